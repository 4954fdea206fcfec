// Captions that could not be sent: they are kept in this browser, for their author alone, and sent when there is a connection.
"use strict";

const unsent = (() => {
  const { account, sent, refused, signIn } = document.currentScript.dataset;
  const PREFIX = `unsent:${account}:`;
  const PAUSE = 30000;
  let isSending = false;
  let timer;

  const keys = () => {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
    } catch {
      return [];
    }
  };
  const say = (text) => {
    let notice = document.getElementById("unsent");
    if (!notice) {
      notice = document.createElement("p");
      notice.id = "unsent";
      notice.className = "card";
      notice.setAttribute("role", "status");
      document.getElementById("main").prepend(notice);
    }
    notice.textContent = text;
  };

  // Sends one caption; throws if the server cannot be reached, or cannot take it now.
  const send = async (key) => {
    const { address, ...caption } = JSON.parse(localStorage.getItem(key));
    const body = new URLSearchParams({ ...caption, action: "send" });
    // Older browsers wait without a limit.
    const signal = AbortSignal.timeout?.(PAUSE);
    const answer = await fetch(address, { method: "POST", body, headers: { Accept: "application/json" }, signal });
    if (answer.status === 429 || answer.status >= 500) throw new Error(answer.statusText);
    const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
    // Without a session, the answer is the form to sign in.
    if (answer.status !== 204 && !isJson) return say(signIn);
    const problem = isJson ? (await answer.json()).problem : "";
    localStorage.removeItem(key);
    if (problem === "") {
      localStorage.removeItem(`draft:${caption.image}`);
      say(sent);
      document.dispatchEvent(new CustomEvent("caption-sent", { detail: caption.image }));
    } else {
      say(refused.replace("{}", () => caption.text).replace("{}", () => problem));
    }
  };
  // Looks again after a pause, whatever happens: captions may be kept here or in another tab meanwhile.
  const flush = async () => {
    if (isSending) return;
    isSending = true;
    clearTimeout(timer);
    try {
      for (const key of keys()) await send(key);
    } catch {
      // The server is tried again.
    } finally {
      isSending = false;
      timer = setTimeout(flush, PAUSE);
    }
  };
  window.addEventListener("online", flush);
  flush();

  return {
    // Keeps a caption until it is sent; false if this browser keeps nothing.
    keep: (address, caption) => {
      try {
        localStorage.setItem(PREFIX + caption.image, JSON.stringify({ address, ...caption }));
      } catch {
        return false;
      }
      return true;
    },
    // Forgets a caption that its author goes on to write or hands in.
    forget: (image) => {
      try {
        localStorage.removeItem(PREFIX + image);
      } catch {
        // Nothing is kept.
      }
    },
  };
})();
