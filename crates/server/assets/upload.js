// The page of uploads: boxes that blur or cut pictures before they leave the browser.
"use strict";

const upload = document.getElementById("upload");
const input = upload.elements.files;
const pictures = document.getElementById("pictures");
// The size of the squares that a blurred box consists of, as a part of the picture's width.
const COARSE = 40;
let shown = [];

// Blurs a part of a canvas for good: what is left are the means of large squares.
const blur = (canvas, x, y, width, height) => {
  const square = Math.max(12, canvas.width / COARSE);
  const small = document.createElement("canvas");
  small.width = Math.max(1, Math.round(width / square));
  small.height = Math.max(1, Math.round(height / square));
  small.getContext("2d").drawImage(canvas, x, y, width, height, 0, 0, small.width, small.height);
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, small.width, small.height, x, y, width, height);
};
const crop = (canvas, x, y, width, height) => {
  const part = canvas.getContext("2d").getImageData(x, y, width, height);
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d").putImageData(part, 0, 0);
};

const show = async (file, number) => {
  const bitmap = await createImageBitmap(file);
  const canvas = document.createElement("canvas");
  const one = { file, canvas, isChanged: false };
  const draw = () => {
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    one.isChanged = false;
  };
  draw();
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", pictures.dataset.label.replace("{}", number));
  const box = document.createElement("span");
  box.className = "box";
  const figure = document.createElement("div");
  figure.className = "editing";
  figure.append(canvas, box);
  const undo = document.createElement("button");
  undo.type = "button";
  undo.textContent = pictures.dataset.undo;
  undo.addEventListener("click", draw);
  pictures.append(figure, undo);

  let from = null;
  const place = (event) => {
    const area = canvas.getBoundingClientRect();
    const within = (value, most) => Math.min(Math.max(value, 0), most);
    return [within(event.clientX - area.left, area.width), within(event.clientY - area.top, area.height)];
  };
  const rectangle = (event) => {
    const [x, y] = place(event);
    return [Math.min(x, from[0]), Math.min(y, from[1]), Math.abs(x - from[0]), Math.abs(y - from[1])];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    from = place(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [x, y, width, height] = rectangle(event);
    // Styles set by a script are not inline styles of the page, which its policy forbids.
    Object.assign(box.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
  });
  canvas.addEventListener("pointercancel", () => {
    from = null;
    box.removeAttribute("style");
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!from) return;
    const scale = canvas.width / canvas.getBoundingClientRect().width;
    const [x, y, width, height] = rectangle(event).map((value) => Math.round(value * scale));
    from = null;
    box.removeAttribute("style");
    if (width < 8 || height < 8) return;
    const tool = upload.elements.tool.value === "crop" ? crop : blur;
    tool(canvas, x, y, Math.min(width, canvas.width - x), Math.min(height, canvas.height - y));
    one.isChanged = true;
  });
  return one;
};

input.addEventListener("change", async () => {
  pictures.replaceChildren();
  shown = [];
  const files = [...input.files].slice(0, 20);
  document.getElementById("tools").hidden = files.length === 0;
  for (const [k, file] of files.entries()) {
    // The server says what is wrong with a file that is not a picture.
    shown.push(await show(file, k + 1).catch(() => ({ file, isChanged: false })));
  }
});

upload.addEventListener("submit", async (event) => {
  if (!shown.some((one) => one.isChanged)) return;
  event.preventDefault();
  const files = new DataTransfer();
  for (const { file, canvas, isChanged } of shown) {
    if (!isChanged) {
      files.items.add(file);
      continue;
    }
    const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
    files.items.add(new File([blob], file.name.replace(/\.\w+$/, ".png"), { type: "image/png" }));
  }
  input.files = files.files;
  shown = [];
  upload.submit();
});
