// Keys, courtesies of the desk, and what is said where a request came to nothing. Everything here is a short cut: all of
// it works without this file.
"use strict";
{
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const wide = window.matchMedia("(min-width: 73.75rem)");
  const inDesk = () => wide.matches && one(".desk") !== null;
  const typing = (element) =>
    element.matches("input:not([type=radio], [type=checkbox], [type=file]), textarea, select, [contenteditable]");

  // ---- the desk: rows open beside the list where there is room for it, as pages where there is none

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-desk]");
    if (link && (!inDesk() || event.ctrlKey || event.metaKey || event.shiftKey)) event.stopPropagation();
    if (event.target.closest("[data-close]")) event.target.closest(".toast").remove();
  }, true);

  let shown = ""; // the item that stands open in the desk
  const mark = () => {
    for (const link of all(".row-link")) {
      const on = link.pathname === shown;
      link.closest(".row").classList.toggle("row-on", on);
      on ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
    }
  };

  const open = (path) => htmx.ajax("GET", path, { target: "#work", swap: "innerHTML" });

  document.addEventListener("htmx:afterSwap", (event) => {
    offerClose();
    const sent = event.detail.requestConfig;
    if (!inDesk() || sent.verb !== "get") return; // a form that came back looks after its own focus
    if (event.detail.target.id === "work") shown = event.detail.pathInfo.requestPath;
    mark();
    if (sent.elt.matches?.("[data-desk]")) one("#work h1")?.focus({ preventScroll: true });
  });

  // A decision sent from the desk opens the next item there, instead of leaving for its page.
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const next = event.detail.xhr.getResponseHeader("HX-Redirect");
    const path = next && new URL(next, location.href).pathname;
    if (!path?.includes("/items/") || !inDesk()) return;
    event.preventDefault();
    history.pushState({}, "", path);
    open(path).then(() => htmx.ajax("GET", one("[data-list-url]").dataset.listUrl, { target: "#list", swap: "innerHTML" })).catch(told);
  });

  // ---- a request that came to nothing: what stands there stays, with all that was typed, and a toast says so

  const told = () => {}; // htmx rejects its promise as well

  const WHY = {
    0: "The server did not answer.",
    403: "You may not do that.",
    404: "Nothing is there any more.",
    413: "That is larger than the server takes.",
  };

  const say = (text) => {
    const toast = document.createElement("div");
    toast.className = "toast toast-stay";
    toast.innerHTML = '<div><p></p></div><button type="button" class="btn btn-quiet" data-close>Close</button>';
    toast.querySelector("p").textContent = text;
    one("#toasts")?.replaceChildren(toast);
  };

  const failed = (event) => {
    const { xhr, requestConfig, elt } = event.detail;
    if (elt.matches?.(".list-new")) return; // it asks by itself, and again; the time that it tells grows old
    const then = requestConfig.verb === "get" ? "Try again in a moment."
      : xhr.status in WHY && xhr.status ? "All you typed is still here."
      : "All you typed is still here. Send it again: nothing is done twice.";
    say(`${WHY[xhr.status] ?? "The server could not do this."} ${then}`);
  };
  for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) document.addEventListener(name, failed);

  // A refusal of ours is a fragment. What a proxy says is a page of its own, or no HTML at all, and takes no form's place.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr } = event.detail;
    const kind = xhr.getResponseHeader("Content-Type") ?? "";
    if (xhr.status < 400 || (kind.startsWith("text/html") && !/<html[\s>]/i.test(xhr.response))) return;
    event.detail.shouldSwap = false;
    event.detail.isError = true;
  });

  // ---- keys

  const jump = (selector) => {
    const place = one(selector);
    if (!place) return;
    if (place.matches("details")) place.open = true;
    place.scrollIntoView({ block: "start" });
    place.focus({ preventScroll: true });
  };

  const step = (by) => {
    const rows = all(".row-link");
    if (!rows.length) return one(by > 0 ? "a[rel=next]" : "a[rel=prev]")?.click();
    const from = rows.indexOf(document.activeElement);
    const on = rows.findIndex((link) => link.closest(".row-on"));
    const at = from >= 0 ? from + by : on >= 0 ? on + by : by > 0 ? 0 : rows.length - 1;
    rows[Math.max(0, Math.min(rows.length - 1, at))].focus();
  };

  const back = () => {
    const row = one(".row-on .row-link") ?? one(".row-link");
    row ? row.focus() : one("[data-back]")?.click();
  };

  const choose = (key) => {
    const radio = one(`#decision [data-key="${key}"]`);
    if (!radio) return;
    radio.click();
    radio.focus();
    const fields = all("#decision .db textarea, #decision .db input, #decision .db select");
    fields.find((field) => field.type !== "hidden" && field.offsetParent)?.focus();
  };

  const send = () => {
    const button = all("#decision .btn-send").find((found) => found.offsetParent);
    if (button) button.form.requestSubmit(button);
  };

  const keys = {
    j: () => step(1),
    k: () => step(-1),
    "/": () => one("#q")?.focus(),
    u: () => one("#show-new")?.click(),
    e: () => jump("#evidence"),
    h: () => jump("#history"),
    d: () => jump("#differences"),
    m: () => jump("#map"),
    "?": () => one("#cs-keys")?.showPopover(),
    Escape: back,
  };
  for (const key of "acrf") keys[key] = () => choose(key);
  for (const key of "123456789") keys[key] = () => jump(`#q${key}`);

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
      event.preventDefault();
      send();
      return;
    }
    if (event.ctrlKey || event.metaKey || typing(event.target) || one("[popover]:popover-open")) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  const offerClose = () => all("[data-close][hidden]").forEach((button) => { button.hidden = false; });
  offerClose();

  // The desk opens with its first item, so that there is something to read; its address stays the queue's.
  const first = one(".row-link");
  if (first && inDesk()) document.addEventListener("DOMContentLoaded", () => open(first.pathname).catch(told));
}
