//! One number for each of several resamples, computed together.

use std::ops::{Add, Div, Mul, Sub};

use super::LANES;

/// A number for each resample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Lanes(pub [f64; LANES]);

impl Lanes {
    /// The same number for all.
    #[inline(always)]
    pub fn all(value: f64) -> Self {
        Self([value; LANES])
    }

    /// 1 where a number is above 0, else 0.
    #[inline(always)]
    pub fn is_above_zero(self) -> Self {
        let Self([a, b, c, d]) = self;
        let one = |value: f64| if value > 0.0 { 1.0 } else { 0.0 };
        Self([one(a), one(b), one(c), one(d)])
    }
}

macro_rules! lane_by_lane {
    ($($name:ident $function:ident $operator:tt),*) => { $(
        impl $name for Lanes {
            type Output = Self;

            #[inline(always)]
            fn $function(self, Self([p, q, r, s]): Self) -> Self {
                let Self([a, b, c, d]) = self;
                Self([a $operator p, b $operator q, c $operator r, d $operator s])
            }
        }
    )* };
}

lane_by_lane!(Add add +, Sub sub -, Mul mul *, Div div /);
