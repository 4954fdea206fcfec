// Words: their positions in a text, which of them match, and how two texts differ.

const UNIT = "\u001f";

function wordsOf(joined) {
  if (joined === "") return [];
  return joined[0] === UNIT ? joined.slice(1).split(UNIT) : joined.split(" ");
}

// The span of each word in the text, or null if the text does not contain the words as they are.
function locate(words, text) {
  const lower = text.toLowerCase();
  const exact = lower.length === text.length ? lower : text;
  const spans = [];
  let from = 0;
  for (const word of words) {
    const wanted = lower.length === text.length ? word.toLowerCase() : word;
    const at = exact.indexOf(wanted, from);
    if (at < 0 || at - from > 24) return null;
    spans.push([at, at + wanted.length]);
    from = at + wanted.length;
  }
  return spans;
}

// The text with its words marked: levels[k] is a class for word k, or "".
function marked(text, words, levels) {
  const parts = document.createDocumentFragment();
  const spans = locate(words, text);
  const source = spans ? text : words.join(" ");
  const places = spans || positions(words);
  let done = 0;
  let k = 0;
  while (k < words.length) {
    const level = levels[k];
    if (!level) {
      k += 1;
      continue;
    }
    let last = k;
    while (last + 1 < words.length && levels[last + 1] === level) last += 1;
    const [start, end] = [places[k][0], places[last][1]];
    if (start > done) parts.append(visible(source.slice(done, start)));
    parts.append(element("mark", { class: level }, visible(source.slice(start, end))));
    done = end;
    k = last + 1;
  }
  if (done < source.length) parts.append(visible(source.slice(done)));
  return parts;
}

function positions(words) {
  let at = 0;
  return words.map((word) => {
    const span = [at, at + word.length];
    at += word.length + 1;
    return span;
  });
}

// The positions of all words that belong to an occurrence of the n-gram.
function occurrences(words, ngram) {
  const found = [];
  for (let start = 0; start + ngram.length <= words.length; start += 1) {
    if (ngram.every((word, k) => words[start + k] === word)) {
      for (let k = start; k < start + ngram.length; k += 1) if (found[found.length - 1] < k || !found.length) found.push(k);
    }
  }
  return found;
}

// The edits that turn the first list of words into the second: [["=" | "+" | "-", words]…].
function difference(before, after) {
  if (before.length * after.length > 4e6) return [["-", before], ["+", after]];
  const width = after.length + 1;
  const table = new Uint16Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      table[i * width + j] = before[i] === after[j]
        ? table[(i + 1) * width + j + 1] + 1
        : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  const runs = [];
  const push = (kind, word) => {
    if (runs.length && runs[runs.length - 1][0] === kind) runs[runs.length - 1][1].push(word);
    else runs.push([kind, [word]]);
  };
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      push("=", before[i]);
      [i, j] = [i + 1, j + 1];
    } else if (i < before.length && (j === after.length || table[(i + 1) * width + j] >= table[i * width + j + 1])) {
      push("-", before[i]);
      i += 1;
    } else {
      push("+", after[j]);
      j += 1;
    }
  }
  return runs;
}

function differing(before, after) {
  const parts = document.createDocumentFragment();
  for (const [kind, words] of difference(before, after)) {
    const text = visible(words.join(" "));
    parts.append(kind === "=" ? text : element(kind === "+" ? "ins" : "del", {}, text), " ");
  }
  return parts;
}
