// What htmx leaves to the page: colours, what stays open and focused over a swap, and whether the page is live.
// A part that changes by itself is morphed (morph.js); what a person asks for beside it is replaced as a whole.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("scripted");

  // --- colours ---
  const THEMES = ["system", "light", "dark"];
  const kept = () => {
    try { return localStorage.getItem("foreword-theme") || "system"; } catch { return "system"; }
  };
  const paint = (theme) => {
    if (theme === "system") root.removeAttribute("data-theme");
    else root.dataset.theme = theme;
  };
  paint(kept());

  const name = (button, theme) => { button.querySelector("span").textContent = `Theme: ${theme}`; };
  const offerThemes = () => {
    const button = document.getElementById("theme");
    button.hidden = false;
    name(button, kept());
    button.addEventListener("click", () => {
      const next = THEMES[(THEMES.indexOf(kept()) + 1) % THEMES.length];
      try { localStorage.setItem("foreword-theme", next); } catch { /* then it lasts for this page */ }
      paint(next);
      name(button, next);
    });
  };

  // --- what stays unfolded where a part is replaced ---
  const open = new Set();
  const remember = () => {
    for (const one of document.querySelectorAll("details[id]")) open[one.open ? "add" : "delete"](one.id);
  };
  const restore = () => {
    for (const id of open) {
      const one = document.getElementById(id);
      if (one instanceof HTMLDetailsElement && !one.open) one.open = true;
    }
  };

  // --- where the focus goes ---
  // When the focus is lost with a form that was opened beside the page, it goes back to what opened it; where that is
  // gone, too, or the page was opened with the form, to what was said. It stays in a form that is shown again.
  const FORMS = "#change, #compress";
  let opener = "";
  const leave = ({ detail }) => {
    const { activeElement } = document;
    if (detail.target.matches(FORMS) && !activeElement.closest(FORMS)) opener = activeElement.id;
  };
  const comeBack = ({ detail }) => {
    if (!detail.target.matches(FORMS) || document.activeElement !== document.body) return;
    const inside = (selector) => document.querySelector(`#${detail.target.id} ${selector}`);
    const next = inside("[autofocus]") || document.getElementById(opener) || inside(".said");
    (next || document.getElementById("main")).focus();
  };

  // --- what goes wrong ---
  const complain = (words) => {
    const toast = document.getElementById("toast");
    toast.querySelector("p").textContent = words;
    toast.hidden = false;
  };
  complain.close = () => { document.getElementById("toast").hidden = true; };
  const reason = (text, page) => {
    try { return JSON.parse(text).title; } catch { return page.querySelector("#problem .message")?.textContent; }
  };
  // An error page has not what a swap asks for: what is there stays, and the message is shown beside it.
  const isFeed = ({ elt }) => elt.matches("#feed, #tabs");
  const check = ({ detail }) => {
    const { xhr, requestConfig } = detail;
    if (!isFeed(requestConfig)) complain.close(); // a message stays until a person does something
    if (xhr.status < 400) return;
    const page = new DOMParser().parseFromString(xhr.responseText, "text/html");
    const wanted = requestConfig.elt.closest("[hx-select]")?.getAttribute("hx-select");
    if (wanted && page.querySelector(wanted)) return;
    detail.shouldSwap = false;
    complain(reason(xhr.responseText, page) || "That did not work.");
  };

  // --- answers in their order ---
  // What a feed has asked for may come after the answer to what a person has asked for since, and would then show what
  // was before: it is asked for again.
  let asked = 0;
  let shown = 0;
  const number = ({ detail }) => { detail.requestConfig.number = ++asked; };
  const order = ({ detail }) => {
    const { requestConfig } = detail;
    detail.isOld = isFeed(requestConfig) && requestConfig.number < shown;
    if (detail.isOld) {
      detail.shouldSwap = false;
      htmx.trigger(document.body, "again");
    } else if (!isFeed(requestConfig)) shown = Math.max(shown, requestConfig.number);
  };

  // --- figures of sliders ---
  const count = ({ dataset, value }) => {
    document.getElementById(dataset.tells).textContent = Number(value).toLocaleString("en-US");
  };

  // --- live ---
  const tell = (words) => { document.getElementById("told").textContent = words; };
  let was = false;
  const live = (on) => {
    const sign = document.getElementById("live");
    if (!sign) return;
    if (!sign.hidden && on === sign.classList.contains("off")) {
      tell(on ? "The page is live again." : "The connection is lost; the page tries again.");
    }
    sign.hidden = false;
    sign.classList.toggle("off", !on);
    sign.querySelector(".word").textContent = on ? "live" : "reconnecting";
  };
  // A browser opens six connections to a host at most, so a page that nobody sees gives its own back. To htmx it is
  // one source all the time; when it is opened anew, the page asks for what it has missed.
  class Stream {
    constructor(url) {
      this.url = url;
      this.heard = [];
      this.open();
      document.addEventListener("visibilitychange", () => (document.hidden ? this.source.close() : this.open()));
    }
    open() {
      if (this.over || this.source?.readyState < EventSource.CLOSED) return;
      this.source = new EventSource(this.url);
      this.source.onopen = (event) => this.onopen?.(event);
      this.source.onerror = (event) => {
        this.over = this.readyState === EventSource.CLOSED; // refused: htmx tries with another one
        this.onerror?.(event);
      };
      for (const [kind, listener] of this.heard) this.source.addEventListener(kind, listener);
    }
    close() {
      this.over = true;
      this.source.close();
    }
    get readyState() { return this.source.readyState; }
    addEventListener(kind, listener) {
      this.heard.push([kind, listener]);
      this.source.addEventListener(kind, listener);
    }
    removeEventListener(kind, listener) {
      this.heard = this.heard.filter((one) => one[1] !== listener);
      this.source.removeEventListener(kind, listener);
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    offerThemes();
    htmx.createEventSource = (url) => new Stream(url);
    const body = document.body;
    body.addEventListener("htmx:beforeSwap", remember);
    body.addEventListener("htmx:beforeSwap", check);
    body.addEventListener("htmx:beforeSwap", order);
    body.addEventListener("htmx:beforeRequest", number);
    body.addEventListener("htmx:beforeRequest", leave);
    body.addEventListener("htmx:afterRequest", comeBack); // what it disabled can be focused again
    body.addEventListener("keydown", ({ key }) => { if (key === "Escape") document.getElementById("cancel")?.click(); });
    body.addEventListener("htmx:sendError", () => complain("The server does not answer."));
    body.addEventListener("gone", ({ detail }) => complain(detail.problem));
    document.querySelector("#toast button").addEventListener("click", () => complain.close());
    body.addEventListener("htmx:afterSettle", restore);
    body.addEventListener("htmx:sseOpen", () => {
      live(true);
      if (was) htmx.trigger(body, "again"); // whatever was missed meanwhile
      was = true;
    });
    body.addEventListener("htmx:sseError", () => live(false));
    body.addEventListener("htmx:oobAfterSwap", restore);
    body.addEventListener("input", ({ target }) => { if (target.dataset.tells) count(target); });
    body.addEventListener("htmx:afterSettle", () => document.querySelectorAll("[data-tells]").forEach(count));
    body.addEventListener("change", ({ target }) => {
      if (target.id === "conversation") target.form.submit();
    });
    body.addEventListener("htmx:afterSwap", ({ detail }) => {
      const words = document.getElementById(detail.target.id)?.dataset.says;
      if (words) tell(words);
    });
    body.addEventListener("htmx:sseMessage", ({ target }) => {
      if ("stale" in target.dataset) target.hidden = false;
    });
  });
})();
