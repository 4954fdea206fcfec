// The page of uploads: boxes that blur or cut pictures before they leave the browser.
"use strict";

const upload = document.getElementById("upload");
const input = upload.elements.files;
const pictures = document.getElementById("pictures");
// The size of the squares that a blurred box consists of, as a part of the picture's width.
const COARSE = 40;
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
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
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-describedby", "boxes");
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

  // The box as left, top, width and height in pixels of the page.
  let chosen = null;
  const outline = () => {
    const [left, top, width, height] = chosen ?? [];
    // Styles set by a script are not inline styles of the page, which its policy forbids.
    if (chosen) Object.assign(box.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    else box.removeAttribute("style");
  };
  const apply = () => {
    const scale = canvas.width / canvas.getBoundingClientRect().width;
    const [x, y, width, height] = chosen.map((value) => Math.round(value * scale));
    chosen = null;
    outline();
    if (width < 8 || height < 8) return;
    const tool = upload.elements.tool.value === "crop" ? crop : blur;
    tool(canvas, x, y, Math.min(width, canvas.width - x), Math.min(height, canvas.height - y));
    one.isChanged = true;
  };
  const within = (value, most) => Math.min(Math.max(value, 0), most);

  // With the mouse or a finger.
  let from = null;
  const place = (event) => {
    const area = canvas.getBoundingClientRect();
    return [within(event.clientX - area.left, area.width), within(event.clientY - area.top, area.height)];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    from = place(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [x, y] = place(event);
    chosen = [Math.min(x, from[0]), Math.min(y, from[1]), Math.abs(x - from[0]), Math.abs(y - from[1])];
    outline();
  });
  canvas.addEventListener("pointercancel", () => {
    from = chosen = null;
    outline();
  });
  canvas.addEventListener("pointerup", () => {
    from = null;
    if (chosen) apply();
  });

  // With the keyboard: arrows move the box, with Shift they change its size, Enter applies it.
  canvas.tabIndex = 0;
  canvas.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const area = canvas.getBoundingClientRect();
    if (step) {
      event.preventDefault();
      const [dx, dy] = step.map((unit) => unit * Math.max(4, area.width / 50));
      const [left, top, width, height] = chosen ?? [area.width * 0.4 - dx, area.height * 0.4 - dy, area.width * 0.2, area.height * 0.2];
      if (event.shiftKey) chosen = [left, top, within(width + dx, area.width - left), within(height + dy, area.height - top)];
      else chosen = [within(left + dx, area.width - width), within(top + dy, area.height - height), width, height];
    } else if (event.key === "Escape" && chosen) {
      chosen = null;
    } else if (event.key === "Enter" && chosen) {
      event.preventDefault();
      apply();
    } else {
      return;
    }
    outline();
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
