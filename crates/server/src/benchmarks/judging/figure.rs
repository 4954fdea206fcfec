//! The cumulative distributions of judges' grades, as lines of a figure.

use capeval_api::Measured;

/// Where the figure has its grades, from left to right, and the share of 0 and of 1.
pub const GRADES: [u32; 4] = [70, 180, 290, 400];
const BOTTOM: f64 = 210.0;
const TOP: f64 = 20.0;

/// The classes of lines for systems; more of them begin again.
const COLOURS: usize = 8;

/// A line of the figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its colour, as a class of the style.
    pub class: String,
    /// Its points, as a path of SVG.
    pub path: String,
    /// The shares in words, for those who do not see it.
    pub words: String,
}

/// A step at each grade, as high as the share of captions with at most that grade. `place` counts the systems.
pub fn line(measured: &Measured, place: usize) -> Line {
    let [four, three, two] = measured.at_least;
    let shares = [1.0 - two, 1.0 - three, 1.0 - four, 1.0];
    let steps =
        GRADES.iter().zip(shares).map(|(x, share)| format!("H{x}V{:.1}", BOTTOM - share * (BOTTOM - TOP)));
    let words = (1..).zip(shares).map(|(grade, share)| format!("{grade}: {:.0} %", share * 100.0));
    Line {
        class: if measured.system.is_some() { format!("s{}", place % COLOURS) } else { "grey".to_owned() },
        path: format!("M40 {BOTTOM}{}H420", steps.collect::<String>()),
        words: words.collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_rise_to_the_whole_at_the_best_grade() {
        let mut measured = Measured {
            system: Some("a".to_owned()),
            judgements: 4,
            m1: None,
            m2: 0.5,
            m3: 2.5,
            m4: 3.0,
            at_least: [0.25, 0.5, 0.75],
        };
        let drawn = line(&measured, 9);
        assert_eq!(
            (drawn.class.as_str(), drawn.words.as_str()),
            ("s1", "1: 25 %, 2: 50 %, 3: 75 %, 4: 100 %")
        );
        assert_eq!(drawn.path, "M40 210H70V162.5H180V115.0H290V67.5H400V20.0H420");
        measured.system = None;
        assert_eq!(line(&measured, 9).class, "grey");
    }
}
