//! The one encoder: layers of attention and of two products, over sequences of any lengths without padding.
//!
//! Sequences of any lengths lie one after another in one matrix, so a caption of 14 tokens costs 14 rows where
//! CLIPScore's program computes 77. The matrix product is matrixmultiply's, whose rows do not depend on how many there
//! are: the bits of a vector depend on its text or picture alone, not on threads, batches or other captions. faer and
//! gemm are a tenth faster on some shapes and do not promise that; candle pads, supports one activation of CLIP and
//! brings 128 packages; ort needs models in ONNX.

use std::ops::Range;

use crate::product::{Matrix, add, exp_below, gelu, multiply, normalize, quick_gelu};
use crate::weights::{Linear, Norm, Numbers};

/// The function between the two products of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    QuickGelu,
    Gelu,
    Relu,
}

/// The place where a layer normalises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Before attention and products, as CLIP does.
    Before,
    /// After what they give was added, as BERT does.
    After,
}

/// One layer.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub query: Linear,
    pub key: Linear,
    pub value: Linear,
    pub out: Linear,
    pub first_norm: Norm,
    pub wide: Linear,
    pub narrow: Linear,
    pub second_norm: Norm,
}

/// All layers.
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    pub layers: Vec<Layer>,
    pub width: usize,
    pub heads: usize,
    pub order: Order,
    /// True if a place attends only to those before it.
    pub is_causal: bool,
    pub activation: Activation,
    pub eps: f32,
    /// The terms that are added to the weights of attention by distance, as in MPNet.
    pub distances: Option<Distances>,
}

/// Weights of attention by the distance of two places.
#[derive(Clone, Debug)]
pub(crate) struct Distances {
    /// A row for each bucket, with a number for each head.
    pub weights: Numbers,
    pub buckets: usize,
}

/// Buffers that one thread uses for one block after another.
#[derive(Default)]
pub(crate) struct Scratch {
    normal: Vec<f32>,
    queries: Vec<f32>,
    /// Keys and values beside each other.
    both: Vec<f32>,
    mixed: Vec<f32>,
    wide: Vec<f32>,
    scores: Vec<f32>,
}

/// `x · weightᵀ + bias`, whose rows are `stride` apart in `out`.
pub(crate) fn apply(linear: &Linear, x: &[f32], out: &mut [f32], stride: usize) {
    let rows = x.len() / linear.inputs.max(1);
    let weight = match linear.by_input {
        true => Matrix::new(linear.weight.get(), linear.inputs, linear.outputs),
        false => Matrix::new(linear.weight.get(), linear.outputs, linear.inputs).transposed(),
    };
    multiply(Matrix::new(x, rows, linear.inputs), weight, 1.0, out, stride);
    if let Some(bias) = &linear.bias {
        for row in out.chunks_mut(stride).take(rows) {
            add(&mut row[..linear.outputs], bias.get());
        }
    }
}

impl Encoder {
    /// Runs the first `n` layers over sequences of these lengths, whose vectors are the rows of `x`.
    pub fn run(&self, x: &mut Vec<f32>, lengths: &[usize], n: usize, scratch: &mut Scratch) {
        for layer in self.layers.iter().take(n) {
            self.layer(layer, x, lengths, None, scratch);
        }
    }

    /// As [`run`](Self::run) with all layers, but keeps one row of each sequence, at these places: the last layer
    /// computes no others. A row of a product does not depend on how many there are, so it has the same bits.
    pub fn run_to_rows(&self, x: &mut Vec<f32>, lengths: &[usize], places: &[usize], scratch: &mut Scratch) {
        let Some((last, before)) = self.layers.split_last() else { return self.keep(x, lengths, places) };
        for layer in before {
            self.layer(layer, x, lengths, None, scratch);
        }
        self.layer(last, x, lengths, Some(places), scratch);
    }

    /// Keeps the rows at one place of each sequence.
    fn keep(&self, x: &mut Vec<f32>, lengths: &[usize], places: &[usize]) {
        let (mut first, mut n) = (0, 0);
        for (length, place) in lengths.iter().zip(places) {
            let row = first + place.min(&length.saturating_sub(1));
            x.copy_within(row * self.width..(row + 1) * self.width, n * self.width);
            (first, n) = (first + length, n + 1);
        }
        x.truncate(n * self.width);
    }

    /// Runs one layer; with `places`, only the rows at one place of each sequence are kept.
    fn layer(
        &self,
        layer: &Layer,
        x: &mut Vec<f32>,
        lengths: &[usize],
        places: Option<&[usize]>,
        scratch: &mut Scratch,
    ) {
        let width = self.width;
        let Scratch { normal, queries, both, mixed, wide, scores } = scratch;
        let norm = |norm: &Norm, from: &[f32], to: &mut [f32]| {
            normalize(from, to, norm.weight.get(), norm.bias.get(), self.eps);
        };

        normal.resize(x.len(), 0.0);
        both.resize(2 * x.len(), 0.0);
        match self.order {
            Order::Before => norm(&layer.first_norm, x, normal),
            Order::After => normal.copy_from_slice(x),
        }
        for (place, linear) in [&layer.key, &layer.value].into_iter().enumerate() {
            apply(linear, normal, &mut both[place * width..], 2 * width);
        }
        if let Some(places) = places {
            self.keep(x, lengths, places);
            self.keep(normal, lengths, places);
        }
        queries.resize(x.len(), 0.0);
        mixed.resize(x.len(), 0.0);
        apply(&layer.query, normal, queries, width);
        let (mut first, mut row) = (0, 0);
        for (number, length) in lengths.iter().enumerate() {
            let asking = places.map_or(0..*length, |places| places[number]..places[number] + 1);
            let n = asking.len();
            let (queries, mixed) = (&queries[row * width..], &mut mixed[row * width..]);
            self.attend(queries, asking, &both[2 * width * first..], *length, scores, mixed);
            (first, row) = (first + length, row + n);
        }
        apply(&layer.out, mixed, normal, width);
        add(x, normal);
        match self.order {
            Order::Before => norm(&layer.second_norm, x, normal),
            Order::After => {
                norm(&layer.first_norm, x, normal);
                x.copy_from_slice(normal);
            }
        }
        let inner = layer.wide.outputs;
        wide.resize(x.len() / width.max(1) * inner, 0.0);
        apply(&layer.wide, normal, wide, inner);
        match self.activation {
            Activation::QuickGelu => quick_gelu(wide),
            Activation::Gelu => gelu(wide),
            Activation::Relu => wide.iter_mut().for_each(|x| *x = x.max(0.0)),
        }
        apply(&layer.narrow, wide, mixed, width);
        add(x, mixed);
        if self.order == Order::After {
            norm(&layer.second_norm, x, normal);
            x.copy_from_slice(normal);
        }
    }

    /// Mixes the values of a sequence of this length for the places that are asked for, which have a row of `queries`
    /// each; `both` has its keys and values beside each other.
    fn attend(
        &self,
        queries: &[f32],
        asking: Range<usize>,
        both: &[f32],
        length: usize,
        scores: &mut Vec<f32>,
        out: &mut [f32],
    ) {
        let (width, size, n) = (self.width, self.width / self.heads.max(1), asking.len());
        scores.resize(n * length, 0.0);
        let factor = 1.0 / (size as f32).sqrt();
        let part =
            |numbers, rows, row_stride| Matrix { numbers, rows, columns: size, row_stride, column_stride: 1 };
        for head in 0..self.heads {
            let queries = part(&queries[head * size..], n, width);
            let keys = part(&both[head * size..], length, 2 * width);
            let values = part(&both[width + head * size..], length, 2 * width);
            multiply(queries, keys.transposed(), factor, scores, length);
            for (place, row) in asking.clone().zip(scores.chunks_exact_mut(length.max(1))) {
                if let Some(distances) = &self.distances {
                    for (other, score) in row.iter_mut().enumerate() {
                        *score += distances.of(place, other, head, self.heads);
                    }
                }
                let seen = if self.is_causal { place + 1 } else { length };
                let (seen, hidden) = row.split_at_mut(seen);
                let most = seen.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                exp_below(seen, most);
                let total = crate::functions::sum(seen, |x| x);
                seen.iter_mut().for_each(|x| *x /= total);
                hidden.fill(0.0);
            }
            multiply(Matrix::new(scores, n, length), values, 1.0, &mut out[head * size..], width);
        }
    }
}

impl Distances {
    /// The weight of what is at `other` for `place`: T5's buckets, half of them for each direction, up to a distance of
    /// 128.
    fn of(&self, place: usize, other: usize, head: usize, heads: usize) -> f32 {
        let half = self.buckets / 2;
        let distance = place.abs_diff(other);
        let direction = if other > place { half } else { 0 };
        let exact = half / 2;
        let bucket = if distance < exact {
            distance
        } else {
            let share = (distance as f32 / exact.max(1) as f32).ln() / (128.0 / exact.max(1) as f32).ln();
            (exact + (share * (half - exact) as f32) as usize).min(half.saturating_sub(1))
        };
        self.weights.get().get((direction + bucket) * heads + head).copied().unwrap_or_default()
    }
}
