//! Pictures as models see them: decoded, resized and cropped with the bytes of Pillow.
