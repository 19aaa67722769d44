// The chat and the workflow: what a director is doing is followed, and what is new is put into the page.
(() => {
  "use strict";
  const NEAR = 60; // pixels from the end that still count as the end
  const SOON = 120; // milliseconds in which several changes are looked at together
  const $ = (id) => document.getElementById(id);
  const { body } = document;
  const pane = () => $("pane");

  // --- the newest in sight ---
  let atEnd = true;
  const toEnd = () => { if (atEnd && pane()) pane().scrollTop = pane().scrollHeight; };

  // --- what is new ---
  const PLACES = ["work", "go-on", "beside-plan", "beside-size", "beside-nodes", "beside-variables", "beside-tabs"];
  const put = (now, next) => {
    const hadFocus = now.contains(document.activeElement);
    morph(now, next);
    htmx.process(now);
    if (hadFocus && document.activeElement === body) $("say")?.focus();
  };
  const mergeLog = (next) => {
    const log = $("log");
    const lines = [...next.children].filter((one) => one.id !== "older");
    if ("old" in log.dataset) return; // an older page stays what it is
    if (lines.length) $("chat-empty")?.remove();
    if (!lines.some((one) => $(one.id))) { // more came than a page has: "Older messages" leads to what is between
      log.replaceChildren(...next.children);
      htmx.process(log);
      return;
    }
    for (const one of lines) {
      const now = $(one.id);
      if (now) put(now, one);
      else {
        log.append(one);
        htmx.process(one);
      }
    }
  };
  const merge = (text) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    const log = page.getElementById("log");
    if (log && $("log")) mergeLog(log);
    for (const id of PLACES) {
      const [now, next] = [$(id), page.getElementById(id)];
      if (now && next) put(now, next);
    }
    if (stale) write("");
    toEnd();
    follow();
  };

  // --- an answer while it is written ---
  let stale = false; // what is written is in the conversation by now, or will be at the next look
  const write = (text) => {
    const bubble = $("writing");
    if (!bubble) return;
    stale = false;
    bubble.querySelector(".prose").textContent = text;
    bubble.hidden = !text;
    if (text) $("chat-empty")?.remove();
    toEnd();
  };
  const more = (piece) => write(piece && !stale ? $("writing")?.querySelector(".prose").textContent + piece : piece);

  // --- what the director is doing ---
  let timer = 0;
  const look = () => {
    clearTimeout(timer);
    timer = setTimeout(() => htmx.trigger(body, "look"), SOON);
  };
  let source = null;
  let following = "";
  const leave = () => {
    source?.close();
    source = null;
    following = "";
  };
  const follow = () => {
    const running = $("work")?.dataset.running || "";
    if ($("send")) $("send").disabled = Boolean(running);
    if (!running && $("picture")?.hidden) draw(); // it was over before the page looked
    if (running === following || document.hidden) return;
    leave();
    if (!running) return;
    following = running;
    draw();
    source = new EventSource($("work").dataset.events);
    const heard = (kind, act) => source.addEventListener(kind, ({ data }) => act(JSON.parse(data)));
    heard("text", ({ text }) => more(text));
    for (const kind of ["call", "step", "result", "warning", "failed"]) {
      heard(kind, () => {
        stale = true;
        look();
      });
    }
    heard("done", () => {
      stale = true;
      setTimeout(draw, BETWEEN);
      source?.close();
      look();
    });
    source.onerror = () => { if (source?.readyState === EventSource.CLOSED) leave(); };
  };

  // --- what the browser shows ---
  const BETWEEN = 1000; // milliseconds between two pictures while something is under way
  let awaited = false;
  let another = false; // is wanted, behind the one on its way
  const draw = () => {
    const figure = $("picture");
    if (awaited) another = true;
    if (!figure || awaited || document.hidden) return;
    const next = new Image();
    const again = () => {
      awaited = false;
      if (following || another) setTimeout(draw, BETWEEN);
      another = false;
    };
    awaited = true;
    next.alt = "What the browser shows";
    next.onload = () => {
      $("picture")?.querySelector("a").replaceChildren(next);
      if ($("picture")) $("picture").hidden = false;
      again();
    };
    next.onerror = again; // there is none yet: the last one stays
    next.src = `${figure.dataset.at}?n=${Date.now()}`;
  };

  // --- sending ---
  const send = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.target.id !== "say") return;
    event.preventDefault();
    if ($("send").disabled) $("told").textContent = "The director is at work. Stop it, or wait.";
    else if (event.target.value.trim()) event.target.form.requestSubmit();
  };
  let words = ""; // that are on their way
  const sending = ({ detail }) => {
    if (detail.elt.id !== "composer") return;
    words = $("say").value;
    $("say").value = "";
    $("send").disabled = true;
    $("say").focus();
    atEnd = true;
  };
  const notSent = () => {
    if (words && !$("say").value) $("say").value = words;
    if (words) $("send").disabled = false;
    words = "";
  };
  const sent = ({ detail }) => {
    const { xhr, requestConfig: { elt } } = detail;
    if (!("merge" in elt.dataset) || detail.isOld) return;
    if (xhr.status >= 400) {
      notSent();
      return;
    }
    detail.shouldSwap = false;
    words = "";
    merge(xhr.responseText);
  };

  document.addEventListener("DOMContentLoaded", () => {
    toEnd();
    pane()?.addEventListener("scroll", () => {
      const { scrollHeight, scrollTop, clientHeight } = pane();
      atEnd = scrollHeight - scrollTop - clientHeight < NEAR;
    });
    body.addEventListener("keydown", send);
    body.addEventListener("htmx:beforeRequest", sending);
    body.addEventListener("htmx:beforeSwap", sent);
    body.addEventListener("htmx:sendError", notSent);
    let height = 0;
    body.addEventListener("htmx:beforeSwap", ({ detail }) => {
      if (detail.target.id === "older") height = pane().scrollHeight - pane().scrollTop;
    });
    body.addEventListener("htmx:afterSettle", () => {
      if (height) pane().scrollTop = pane().scrollHeight - height;
      height = 0;
      follow();
    });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) leave();
      else look();
    });
    follow();
  });
})();
