//! Vectors of texts and pictures from models in the folders of Hugging Face, on the CPU.
