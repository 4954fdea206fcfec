//! Coefficients beside those of scipy.

use capeval_stats::correlation::{Levels, Walk, kendall, pearson, spearman};

/// Two lists; then `scipy.stats.pearsonr`, `spearmanr` and `kendalltau` with variants b and c, scipy 1.17.1. A sample
/// of what `oracle/correlations.py` compares 1,000 times.
type Case = ([f64; 12], [f64; 12], [f64; 4]);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ([2.0, 1.0, 2.0, 2.0, 1.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 2.0], [1.0, -1.0, -1.0, 1.0, -1.0, 1.0, -2.0, 1.0, 3.0, 1.0, 1.0, -1.0], [-0.5113966563253383, -0.46985548527191917, -0.42699324622671997, -0.3958333333333333]),
    ([3.0, 1.0, 4.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 4.0, 4.0, 3.0], [2.0, 2.5, 1.5, 3.9, 1.6, 0.5, 3.5, 0.2, 3.0, 2.2, 0.7, 0.2], [-0.3044079480962259, -0.3247943514028234, -0.217107906075582, -0.2222222222222222]),
    ([6.0, 3.0, 4.0, 0.0, 5.0, 7.0, 5.0, 1.0, 4.0, 2.0, 8.0, 7.0], [6.0, 5.0, 7.0, 3.0, 7.0, 9.0, 5.0, 3.0, 5.0, 2.0, 8.0, 9.0], [0.8861828626574538, 0.8790258238106534, 0.7156600534955909, 0.7129629629629629]),
    ([72.0, 50.0, 61.0, 87.0, 68.0, 36.0, 64.0, 59.0, 10.0, 5.0, 66.0, 38.0], [-69.4, -48.4, -60.3, -86.8, -66.6, -32.8, -62.6, -57.9, -7.0, -1.8, -64.3, -35.7], [-0.9997094873887378, -1.0, -0.9999999999999998, -1.0]),
    ([1.0, 2.0, 0.0, 1.0, 1.0, 0.0, 2.0, 2.0, 1.0, 2.0, 1.0, 2.0], [3.0, 2.0, 1.0, 0.0, 2.0, 0.0, 3.0, 3.0, 0.0, 2.0, 0.0, 0.0], [0.46291004988627577, 0.44945430887169013, 0.3794733192202055, 0.375]),
    ([1.0, 4.0, 4.0, 3.0, 2.0, 2.0, 0.0, 1.0, 4.0, 2.0, 1.0, 1.0], [3.0, 4.4, 7.0, 6.1, 5.0, 3.7, 3.4, 3.5, 5.9, 3.3, 2.6, 4.7], [0.7488923487861788, 0.700730976532123, 0.5695214286468868, 0.5902777777777778]),
    ([7.0, 3.0, 8.0, 4.0, 4.0, 6.0, 7.0, 8.0, 8.0, 1.0, 3.0, 8.0], [-6.0, -3.0, -6.0, -1.0, -2.0, -3.0, -5.0, -8.0, -5.0, 0.0, 0.0, -5.0], [-0.8938930954849054, -0.8659931879392035, -0.7523841248624463, -0.7333333333333333]),
    ([97.0, 1.0, 86.0, 62.0, 48.0, 79.0, 95.0, 51.0, 8.0, 72.0, 23.0, 22.0], [0.3, 0.3, 4.0, 1.4, 1.0, 0.5, 1.5, 1.9, 1.7, 3.6, 3.4, 2.9], [-0.011517137545442618, -0.01751316170845866, 0.015267620413811482, 0.015277777777777777]),
];

#[test]
fn coefficients_equal_those_of_scipy() {
    for (x, y, expected) in CASES {
        let (levels_x, levels_y) = (Levels::new(x), Levels::new(y));
        let kendall = kendall(&levels_x, &levels_y, &Walk::new(&levels_x), None);
        let found = [
            pearson(x, y),
            spearman(&levels_x, &levels_y, None),
            kendall.map(|k| k.tau_b),
            kendall.map(|k| k.tau_c),
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.is_some_and(|found| (found - expected).abs() < 1e-14), "{found:?}, not {expected}");
        }
    }
}

#[test]
fn the_order_of_items_changes_no_coefficient() {
    for (x, y, _) in CASES {
        let turned = |values: &[f64; 12]| {
            let mut turned = *values;
            turned.rotate_left(5);
            turned
        };
        assert_eq!(pearson(x, y), pearson(&turned(x), &turned(y)));
        let (a, b) = (Levels::new(x), Levels::new(y));
        let (c, d) = (Levels::new(&turned(x)), Levels::new(&turned(y)));
        assert_eq!(kendall(&a, &b, &Walk::new(&a), None), kendall(&c, &d, &Walk::new(&c), None));
        assert_eq!(spearman(&a, &b, None), spearman(&c, &d, None));
    }
}
