//! What is known of finished spans: the states over each, with their scores.
//!
//! A span's states lie side by side, ascending. Memory grows by pages, so that nothing is moved or half used.

/// The items of a page, unless a span alone has more.
const PAGE: usize = 1 << 17;

/// The states over the spans of one sentence. A span is a pair of places between words: `start..end`.
#[derive(Default)]
pub(super) struct Items {
    /// The number of words.
    length: usize,
    /// By start, then by end.
    spans: Vec<Span>,
    pages: Vec<Page>,
    /// The number of pages in use.
    used: usize,
    /// By start, the states over any span that begins there, a bit each; the same by end.
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// The words of a set of states.
    room: usize,
}

/// The place of a span's states.
#[derive(Clone, Copy, Default)]
struct Span {
    page: u32,
    first: u32,
    count: u32,
}

#[derive(Default)]
struct Page {
    states: Vec<u16>,
    scores: Vec<f32>,
}

impl Items {
    /// Forgets everything and makes room for a sentence of this many words.
    pub(super) fn clear(&mut self, length: usize, states: usize) {
        self.length = length;
        self.used = 0;
        self.room = states.div_ceil(64);
        self.spans.clear();
        self.spans.resize(length * length, Span::default());
        for sets in [&mut self.starts, &mut self.ends] {
            sets.clear();
            sets.resize((length + 1) * self.room, 0);
        }
    }

    /// The number of words.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Keeps the states over a span, a bit each, which are listed in ascending order.
    pub(super) fn keep(&mut self, start: usize, end: usize, live: &[u64], listed: &[(u16, f32)]) {
        let has_room = |page: &Page| page.states.len() + listed.len() <= page.states.capacity();
        if self.used == 0 || !has_room(&self.pages[self.used - 1]) {
            self.turn(listed.len());
        }
        let page = &mut self.pages[self.used - 1];
        self.spans[start * self.length + end - 1] =
            Span { page: self.used as u32 - 1, first: page.states.len() as u32, count: listed.len() as u32 };
        page.states.extend(listed.iter().map(|(state, _)| *state));
        page.scores.extend(listed.iter().map(|(_, score)| *score));
        for (sets, place) in [(&mut self.starts, start), (&mut self.ends, end)] {
            let set = &mut sets[place * self.room..][..live.len()];
            set.iter_mut().zip(live).for_each(|(word, live)| *word |= live);
        }
    }

    /// Begins the next page that has room for so many items.
    fn turn(&mut self, count: usize) {
        if self.used == self.pages.len() {
            self.pages.push(Page::default());
        }
        let page = &mut self.pages[self.used];
        page.states.clear();
        page.scores.clear();
        page.states.reserve_exact(PAGE.max(count));
        page.scores.reserve_exact(PAGE.max(count));
        self.used += 1;
    }

    /// The states over a span, and their scores.
    pub(super) fn over(&self, start: usize, end: usize) -> (&[u16], &[f32]) {
        let Span { page, first, count } = self.spans[start * self.length + end - 1];
        let range = first as usize..first as usize + count as usize;
        match self.pages.get(page as usize) {
            Some(page) if count > 0 => (&page.states[range.clone()], &page.scores[range]),
            _ => (&[], &[]),
        }
    }

    /// The score of a state over a span; negative infinity if it cannot be derived, or was skipped.
    pub(super) fn score(&self, state: u16, start: usize, end: usize) -> f32 {
        let (states, scores) = self.over(start, end);
        states.binary_search(&state).map_or(f32::NEG_INFINITY, |place| scores[place])
    }

    /// Returns true if a state covers any span with a start.
    pub(super) fn starts(&self, state: u16, start: usize) -> bool {
        self.has(&self.starts, state, start)
    }

    /// Returns true if a state covers any span with an end.
    pub(super) fn ends(&self, state: u16, end: usize) -> bool {
        self.has(&self.ends, state, end)
    }

    fn has(&self, sets: &[u64], state: u16, place: usize) -> bool {
        sets[place * self.room + usize::from(state) / 64] >> (state % 64) & 1 == 1
    }

    /// The bytes that pages take.
    pub(super) fn bytes(&self) -> usize {
        self.pages.iter().map(|page| page.states.capacity() * (size_of::<u16>() + size_of::<f32>())).sum()
    }
}
