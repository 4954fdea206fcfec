//! Computes the overlap of boxes in scenes from their eight corners, and the measure by which Scan2Cap's benchmark
//! assigns boxes.

/// The corners of a box.
pub type Corners = [[f64; 3]; 8];

/// The overlap of two boxes that are parallel to the axes, in numbers of 32 bits as the program computes it.
pub fn overlap(a: &Corners, b: &Corners) -> f64 {
    let range = |corners: &Corners, k: usize| {
        let values = || corners.iter().map(|corner| corner[k] as f32);
        (values().fold(f32::INFINITY, f32::min), values().fold(f32::NEG_INFINITY, f32::max))
    };
    let ranges = |corners: &Corners| [0, 1, 2].map(|k| range(corners, k));
    let (a, b) = (ranges(a), ranges(b));
    let volume = |side: &[(f32, f32); 3]| side.iter().map(|(low, high)| high - low).product::<f32>();
    let common = [0, 1, 2].map(|k| (a[k].1.min(b[k].1) - a[k].0.max(b[k].0)).max(0.0));
    let common = common[0] * common[1] * common[2];
    f64::from(common / (volume(&a) + volume(&b) - common + 1e-8))
}

/// The generalised overlap of the benchmark.
///
/// Quirk kept on purpose: the footprint is that of x and z, and is multiplied by the height in z once more.
pub fn generalized_overlap(a: &Corners, b: &Corners) -> f64 {
    let side =
        |low: usize, high: usize, k: usize| (a[high][k].min(b[high][k]) - a[low][k].max(b[low][k])).max(0.0);
    let common = side(2, 0, 0) * side(2, 0, 2) * side(4, 0, 2);
    let ends = |k: usize| {
        let values = || a.iter().chain(b).map(|corner| corner[k]);
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    let enclosing = ends(0) * ends(1) * ends(2);
    let sum = volume(a).max(1e-8) + volume(b).max(1e-8);
    if enclosing <= 2e-8 || sum <= 4e-8 {
        return 0.0;
    }
    let union = (sum - common).max(1e-8);
    common / union - (1.0 - union / enclosing)
}

fn volume(corners: &Corners) -> f64 {
    let edge = |i: usize, j: usize| {
        let square = |k: usize| (corners[i][k] - corners[j][k]).powi(2);
        (square(0) + square(1) + square(2)).max(1e-6).sqrt()
    };
    edge(0, 1) * edge(1, 2) * edge(0, 4)
}
