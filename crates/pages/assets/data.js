// Blocks of data in the page, each decompressed once, when it is first needed.

const blocks = new Map();

function block(name) {
  if (!blocks.has(name)) blocks.set(name, read(document.getElementById("b-" + name)));
  return blocks.get(name);
}

async function read(element) {
  if (!element) return null;
  if (element.type === "application/json") return JSON.parse(element.textContent);
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser cannot decompress the page's data; use a browser from 2023 or later");
  }
  const bytes = unpacked(element.textContent.trim());
  element.textContent = "";
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

function unpacked(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k += 1) bytes[k] = text.charCodeAt(k);
  return bytes;
}

// What the blocks `name` hold about an image; src/data.rs describes them.
async function ofImage(name, meta, image) {
  const chunk = await block(name + "-" + Math.floor(image / meta.chunk));
  return chunk && chunk[image % meta.chunk];
}

// What the blocks `name` hold about all images.
async function ofAllImages(name, meta) {
  const chunks = [];
  for (let chunk = 0; chunk * meta.chunk < meta.n; chunk += 1) chunks.push(block(name + "-" + chunk));
  return (await Promise.all(chunks)).flat();
}

// An element with attributes and children; strings become text, never HTML.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else if (value === true) {
      made.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(name, value);
    }
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// The text with control characters as visible symbols.
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/\u007f/g, "\u2421");
}

// A number with four significant digits, or six from 1000 on; whole numbers in full.
function shown(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size < 1e-4) return value.toExponential(1);
  return String(Number(value.toPrecision(size >= 1000 ? 6 : 4)));
}

function score(value) {
  if (value === null || value === undefined) return "–";
  return Math.abs(value) >= 100 ? value.toFixed(1) : value.toFixed(3);
}
