//! How pictures are prepared for a model: resizing, cutting, normalising, as its folder says.

use capeval_choice::Refusal;
use serde_json::Value;

use crate::clip::{Colours, OPENAI};

/// The size of a picture before a square is cut from its middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureResize {
    /// The shorter side has this length, and the longer one keeps its share.
    Shorter(usize),
    /// The width and the height, whatever the shape was.
    Exact(usize, usize),
}

impl PictureResize {
    /// The lengths of the shortest and the longest side that it makes; of the latter, what is known.
    fn sides(self) -> [usize; 2] {
        match self {
            Self::Shorter(shorter) => [shorter; 2],
            Self::Exact(width, height) => [width.min(height), width.max(height)],
        }
    }
}

/// The file that says how pictures are prepared.
pub(crate) const PREPROCESSOR: &str = "preprocessor_config.json";

pub(crate) fn not_computed(file: &str, why: String) -> Refusal {
    Refusal::new(why).with_remedy("make vectors with the model's own program, and give these").at(file)
}

/// The greatest length of a side to which pictures are resized.
const MOST_PIXELS: usize = 4096;

/// The colours that a picture has for a model.
pub(crate) fn colours(preprocessor: Option<&Value>, open_clip: Option<&Value>) -> Result<Colours, Refusal> {
    let of = |value: Option<&Value>, key: &str, default: [f32; 3]| -> Result<[f32; 3], Refusal> {
        let Some(list) = value.and_then(|value| value.get(key)).and_then(Value::as_array) else {
            return Ok(default);
        };
        let numbers: Vec<f32> = list.iter().filter_map(Value::as_f64).map(|x| x as f32).collect();
        <[f32; 3]>::try_from(numbers).ok().filter(|all| all.iter().all(|x| x.is_finite())).ok_or_else(|| {
            Refusal::new(format!("{key} is not a list of three numbers"))
                .with_remedy("download the file again")
                .at(PREPROCESSOR)
        })
    };
    let of_open_clip = open_clip.and_then(|value| value.get("preprocess_cfg"));
    let mean = of(of_open_clip, "mean", of(preprocessor, "image_mean", OPENAI.mean)?)?;
    let deviation = of(of_open_clip, "std", of(preprocessor, "image_std", OPENAI.deviation)?)?;
    match deviation.contains(&0.0) {
        true => Err(not_computed(PREPROCESSOR, "image_std has a 0".to_owned())),
        false => Ok(Colours { mean, deviation }),
    }
}

/// The size of pictures before the middle is cut from them for a model that sees squares of `side`. A model whose
/// pictures are prepared in another way than by resizing, cutting and normalising is refused.
pub(crate) fn resize(
    preprocessor: Option<&Value>,
    open_clip: Option<&Value>,
    side: usize,
) -> Result<PictureResize, Refusal> {
    let of_open_clip = open_clip.and_then(|value| value.get("preprocess_cfg"));
    let is_squashed = of_open_clip.and_then(|value| value.get("resize_mode")) == Some(&"squash".into());
    for (key, usual) in [("interpolation", "bicubic"), ("resize_mode", "shortest")] {
        let other = of_open_clip.and_then(|value| value.get(key)).and_then(Value::as_str);
        if let Some(other) = other.filter(|other| *other != usual && *other != "squash") {
            let why = format!("{key} is {other}, and only {usual} is computed");
            return Err(not_computed("open_clip_config.json", why));
        }
    }
    let refuse = |why: String| Err(not_computed(PREPROCESSOR, why));
    let given = |key: &str| preprocessor.and_then(|value| value.get(key)).filter(|value| !value.is_null());
    for step in ["do_resize", "do_rescale", "do_normalize"] {
        if given(step) == Some(&Value::Bool(false)) {
            return refuse(format!("{step} is false, and this step is always taken here"));
        }
    }
    // 3 is bicubic in Pillow.
    match given("resample").and_then(Value::as_u64) {
        None | Some(3) => {}
        Some(other) => {
            return refuse(format!("resample is {other}, and only 3, which is bicubic, is computed"));
        }
    }
    let length = |value: Option<&Value>| value.and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let both = |value: &Value| Some((length(value.get("width"))?, length(value.get("height"))?));
    let resize = match given("size") {
        None if is_squashed => PictureResize::Exact(side, side),
        None => PictureResize::Shorter(side),
        Some(size) => {
            let shorter = length(Some(size)).or_else(|| length(size.get("shortest_edge")));
            let known = shorter.map(PictureResize::Shorter);
            match known.or_else(|| both(size).map(|(width, height)| PictureResize::Exact(width, height))) {
                Some(known) => known,
                None => {
                    return refuse(format!("size is {size}, and neither shortest_edge nor height and width"));
                }
            }
        }
    };
    let [least, greatest] = resize.sides();
    if least < side || greatest > MOST_PIXELS {
        let size = given("size").unwrap_or(&Value::Null);
        return refuse(format!("size is {size}, and the model sees {side} × {side} pixels"));
    }
    if given("do_center_crop") == Some(&Value::Bool(false)) {
        return match resize == PictureResize::Exact(side, side) {
            true => Ok(resize),
            false => refuse("do_center_crop is false, and this step is always taken here".to_owned()),
        };
    }
    let is_side = |value: &Value| length(Some(value)) == Some(side) || both(value) == Some((side, side));
    if let Some(other) = given("crop_size").filter(|value| !is_side(value)) {
        return refuse(format!("crop_size is {other}, and the model sees {side} × {side} pixels"));
    }
    Ok(resize)
}
