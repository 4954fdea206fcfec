//! Coefficients of lists on standard input, for comparison with other programs.
//!
//! A line `x x x;y y y` gives Pearson's r, Spearman's ρ, Kendall's τ-b and τ-c; a line `r r r|r r r|…` of items with
//! their ratings gives Krippendorff's α and Fleiss' κ. What is undefined prints as `nan`.

#![expect(clippy::print_stdout, reason = "an example that prints")]

use capeval_stats::agreement::{fleiss_kappa, krippendorff_ordinal};
use capeval_stats::correlation::{Levels, Walk, kendall, pearson, spearman};

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

fn main() {
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let found = match line.split_once(';') {
            Some((x, y)) => {
                let (x, y) = (numbers(x), numbers(y));
                let (levels_x, levels_y) = (Levels::new(&x), Levels::new(&y));
                let kendall = kendall(&levels_x, &levels_y, &Walk::new(&levels_x), None);
                vec![
                    pearson(&x, &y),
                    spearman(&levels_x, &levels_y, None),
                    kendall.map(|k| k.tau_b),
                    kendall.map(|k| k.tau_c),
                ]
            }
            None => {
                let items: Vec<Vec<f64>> = line.split('|').map(numbers).collect();
                let items = || items.iter().map(Vec::as_slice);
                vec![krippendorff_ordinal(items()), fleiss_kappa(items())]
            }
        };
        let shown: Vec<String> = found.iter().map(|x| format!("{:?}", x.unwrap_or(f64::NAN))).collect();
        println!("{}", shown.join(" "));
    }
}
