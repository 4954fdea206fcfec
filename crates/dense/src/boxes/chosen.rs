//! Reads a form of boxes with its settings, as users write it: `scan2cap`, or `densecap-scenic:keep-empty:in-720`.

use std::fmt;
use std::str::FromStr;

use capeval_choice::{Refusal, Remedy, UnknownName, named};

use super::BoxForm;
use crate::regions::RegionOptions;

named! {
    /// A setting of scenic's evaluator of regions.
    pub enum RegionSetting ("setting of densecap-scenic") {
        KeepEmpty = "keep-empty", "empty captions stay as they are: ignore_empty_string=False";
        In720 = "in-720", "references are scaled to a longer side of 720 pixels: eval_in_720=True";
        Numpy1 = "numpy-1", "precisions are summed in 64 bits, as numpy 1 does";
    }
}

/// A form with its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenForm {
    /// The form.
    pub form: BoxForm,
    /// The settings of `densecap-scenic`.
    pub settings: Vec<RegionSetting>,
}

impl From<BoxForm> for ChosenForm {
    fn from(form: BoxForm) -> Self {
        Self { form, settings: Vec::new() }
    }
}

impl ChosenForm {
    /// The settings as the computation takes them.
    pub(super) fn region_options(&self) -> RegionOptions {
        let has = |setting| self.settings.contains(&setting);
        let is_lua = self.form == BoxForm::DenseCapLua;
        RegionOptions {
            ignores_empty: !is_lua && !has(RegionSetting::KeepEmpty),
            in_720: has(RegionSetting::In720),
            is_numpy_2: !has(RegionSetting::Numpy1),
            is_lua,
        }
    }
}

impl fmt::Display for ChosenForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.form.name())?;
        self.settings.iter().try_for_each(|setting| write!(f, ":{}", setting.name()))
    }
}

impl FromStr for ChosenForm {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let mut parts = text.split(':');
        let mut chosen = Self::from(parts.next().unwrap_or_default().parse::<BoxForm>()?);
        for part in parts {
            if chosen.form != BoxForm::DenseCapScenic {
                return Err(Refusal::new(format!("the form {} has no settings", chosen.form))
                    .with_remedy(Remedy::say(format!("write {}", chosen.form))));
            }
            let setting = part.parse().map_err(|unknown: UnknownName| Refusal::from(unknown))?;
            if !chosen.settings.contains(&setting) {
                chosen.settings.push(setting);
            }
        }
        Ok(chosen)
    }
}
