//! Charts as inline SVG whose colours follow the page's.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::*;

/// The colours that drawings are made in; [`themed`] replaces them by those of the page.
const INK: RGBColor = RGBColor(1, 1, 1);
const RULE: RGBColor = RGBColor(1, 1, 2);
const MUTED: RGBColor = RGBColor(1, 1, 3);

/// How many series have a colour of their own.
pub(super) const COLOURS: usize = 8;

const SIZE: (u32, u32) = (460, 280);
const FONT: (&str, i32) = ("sans-serif", 16);

/// Where a curve gets its colour from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Colour {
    /// The system of that number.
    System(usize),
    /// None of its own.
    Muted,
}

/// A curve with its name.
pub(super) struct Series {
    /// What it shows.
    pub colour: Colour,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// What the axes say.
pub(super) struct Axes<'a> {
    /// Below.
    pub x: &'a str,
    /// On the left.
    pub y: &'a str,
    /// The horizontal range.
    pub x_range: (f64, f64),
    /// The vertical range.
    pub y_range: (f64, f64),
}

fn colour(of: Colour) -> RGBColor {
    match of {
        Colour::System(k) => RGBColor(2, 0, (k % COLOURS) as u8),
        Colour::Muted => MUTED,
    }
}

type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;
type Chart<'c, 's> = ChartContext<
    'c,
    SVGBackend<'s>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

/// Curves over a common axis; `filled` ones have a tint below them.
pub(super) fn curves(axes: &Axes<'_>, series: &[Series], filled: bool) -> io::Result<String> {
    draw(axes, |chart| {
        for Series { colour: of, points } in series {
            let colour = colour(*of);
            if filled {
                let area = AreaSeries::new(points.iter().copied(), 0.0, colour.mix(0.1));
                chart.draw_series(area).map_err(io::Error::other)?;
            }
            let line = LineSeries::new(points.iter().copied(), colour.stroke_width(2));
            chart.draw_series(line).map_err(io::Error::other)?;
        }
        Ok(())
    })
}

/// How many squares a scatter of many points has along each axis.
const SQUARES: usize = 32;
/// Up to how many points are drawn one by one.
const POINTS: usize = 400;

/// Points one by one, or, where there are many, how many fall into each square.
pub(super) fn scatter(axes: &Axes<'_>, points: &[(f64, f64)], of: Colour) -> io::Result<String> {
    let colour = colour(of);
    draw(axes, |chart| {
        if points.len() <= POINTS {
            let dots = points.iter().map(|point| Circle::new(*point, 3, colour.mix(0.45).filled()));
            chart.draw_series(dots).map_err(io::Error::other)?;
            return Ok(());
        }
        let place = |value: f64, (low, high): (f64, f64)| {
            let share = if high > low { (value - low) / (high - low) } else { 0.0 };
            (share.clamp(0.0, 1.0) * SQUARES as f64).min(SQUARES as f64 - 1.0) as usize
        };
        let mut counts = vec![0_u32; SQUARES * SQUARES];
        for (x, y) in points {
            counts[place(*y, axes.y_range) * SQUARES + place(*x, axes.x_range)] += 1;
        }
        let most = counts.iter().copied().max().unwrap_or(1).max(1);
        let edge = |k: usize, (low, high): (f64, f64)| low + (high - low) * k as f64 / SQUARES as f64;
        let squares = counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(at, count)| {
            let (x, y) = (at % SQUARES, at / SQUARES);
            let corners = [
                (edge(x, axes.x_range), edge(y, axes.y_range)),
                (edge(x + 1, axes.x_range), edge(y + 1, axes.y_range)),
            ];
            let share = f64::from(*count).ln_1p() / f64::from(most).ln_1p();
            Rectangle::new(corners, colour.mix((0.12 + 0.88 * share).min(1.0)).filled())
        });
        chart.draw_series(squares).map_err(io::Error::other)?;
        Ok(())
    })
}

fn draw(axes: &Axes<'_>, series: impl FnOnce(&mut Chart<'_, '_>) -> io::Result<()>) -> io::Result<String> {
    let mut svg = String::new();
    {
        let area: Area<'_> = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let widen = |(low, high): (f64, f64)| if high > low { low..high } else { low..low + 1.0 };
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .margin_right(14)
            .x_label_area_size(44)
            .y_label_area_size(60)
            .build_cartesian_2d(widen(axes.x_range), widen(axes.y_range))
            .map_err(io::Error::other)?;
        let text = FONT.into_font().color(&INK);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(6)
            .y_labels(5)
            .x_label_formatter(&|value| tick(*value))
            .y_label_formatter(&|value| tick(*value))
            .light_line_style(RULE.mix(0.0))
            .bold_line_style(RULE)
            .axis_style(RULE)
            .label_style(text.clone())
            .axis_desc_style(text)
            .x_desc(axes.x)
            .y_desc(axes.y)
            .draw()
            .map_err(io::Error::other)?;
        series(&mut chart)?;
        area.present().map_err(io::Error::other)?;
    }
    Ok(themed(&svg))
}

fn tick(value: f64) -> String {
    // Steps that add up leave crumbs such as 0.30000000000000004, and a minus before zero.
    let rounded = (value * 1e6).round() / 1e6;
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

/// Puts the page's colours into a drawing, and lets it fill the width that it is given.
fn themed(svg: &str) -> String {
    let mut svg = svg
        .replace("\"#010101\"", "\"currentColor\"")
        .replace("\"#010102\"", "\"var(--rule)\"")
        .replace("\"#010103\"", "\"var(--muted)\"")
        .replace('\n', "");
    for k in 0..COLOURS {
        svg = svg.replace(&format!("\"#02000{k}\""), &format!("\"var(--s{k})\""));
    }
    let start = svg.find("viewBox").unwrap_or(0);
    let end = svg.find("xmlns").unwrap_or(start);
    let view_box = svg.get(start..end).unwrap_or_default().to_owned();
    let rest = svg.find('>').and_then(|end| svg.get(end + 1..)).unwrap_or_default();
    format!("<svg {view_box}aria-hidden=\"true\" focusable=\"false\">{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawings_take_their_colours_from_the_page() {
        let axes = Axes { x: "x", y: "y", x_range: (0.0, 1.0), y_range: (0.0, 1.0) };
        let series = [Series { colour: Colour::System(1), points: vec![(0.0, 0.0), (1.0, 1.0)] }];
        let svg = curves(&axes, &series, true).unwrap();
        assert!(svg.starts_with("<svg viewBox=\"0 0 460 280\" aria-hidden=\"true\""), "{svg}");
        assert!(svg.contains("var(--s1)") && svg.contains("currentColor") && !svg.contains("\"#0"), "{svg}");
        assert!(!svg.contains("style="), "the page's policy allows no style attribute: {svg}");
    }

    #[test]
    fn many_points_cost_no_more_than_their_squares() {
        let axes = Axes { x: "x", y: "y", x_range: (0.0, 1.0), y_range: (0.0, 1.0) };
        let points: Vec<(f64, f64)> =
            (0..50_000).map(|k| (f64::from(k % 211) / 211.0, f64::from(k % 97) / 97.0)).collect();
        let svg = scatter(&axes, &points, Colour::System(0)).unwrap();
        assert!(svg.len() < 150_000, "{}", svg.len());
    }
}
