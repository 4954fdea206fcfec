// The pictures of images: where they are, and how they are shown.

// The address of an image's picture, or null.
async function picture(meta, ids, image) {
  if (!meta.pictures) return null;
  if (meta.pictures === "embedded") return ofImage("pictures", meta, image);
  if (meta.pictures === "listed") {
    const files = await block("pictures");
    return files[image] ? files[image].split("/").map(encodeURIComponent).join("/") : null;
  }
  return meta.pictures.pattern.replace(/\{id(?::0(\d{1,2}))?\}/g, (_, width) =>
    encodeURIComponent(String(ids[image]).padStart(Number(width || 0), "0")).replace(/%2F/g, "/"));
}

// A small picture for a list; nothing where it is missing.
function thumbnail(meta, ids, image) {
  if (!meta.pictures) return null;
  const img = element("img", { class: "thumb", alt: "", on: { error: () => img.removeAttribute("src") } });
  picture(meta, ids, image).then((address) => { if (address) img.src = address; });
  return img;
}

// A picture that a click enlarges.
function enlargeable(address) {
  const alt = "The image that the captions describe";
  const button = element("button", { type: "button", class: "picture", title: "Enlarge", on: { click: () => {
    const close = element("button", { type: "button", on: { click: () => dialog.close() } }, "Close");
    const dialog = element("dialog", { class: "large", "aria-label": "Picture", on: { close: () => dialog.remove(), click: (event) => { if (event.target !== close) dialog.close(); } } },
      close, element("img", { src: address, alt }));
    document.body.append(dialog);
    dialog.showModal();
  } } });
  const img = element("img", { src: address, alt, on: { error: () => button.replaceWith(element("p", { class: "sub" }, "the picture was not found")) } });
  button.append(img);
  return button;
}
