// Trying: what is typed outlasts the page while its tab is open, Ctrl Enter sends, and a try that came to nothing says so
// where its result would stand. Without this file the page works just the same.
"use strict";
(() => {
  const work = document.getElementById("work");
  const slot = work.dataset.kept && `countersign.try.${work.dataset.kept}`; // a text for each example, and one's own
  const fields = () => [...work.querySelectorAll("textarea")];
  const button = () => work.querySelector(".btn-send");

  // ---- what is typed

  const given = new Map(fields().map((field) => [field.name, field.value])); // what the server filled in
  const kept = {
    get: () => { try { return JSON.parse(sessionStorage.getItem(slot)) ?? {}; } catch { return {}; } },
    set: (texts) => { try { sessionStorage.setItem(slot, JSON.stringify(texts)); } catch { /* a browser that keeps nothing */ } },
    drop: () => { try { sessionStorage.removeItem(slot); } catch { /* likewise */ } },
  };
  const typed = () => fields().some(({ name, value }) => value !== given.get(name));

  function keep() {
    if (!slot) return;
    typed() ? kept.set(Object.fromEntries(fields().map(({ name, value }) => [name, value]))) : kept.drop();
    offer();
  }

  function offer() {
    work.querySelector(".try-kept").hidden = !slot || !typed();
    for (const key of button().querySelectorAll("kbd")) key.hidden = false;
  }

  if (slot) {
    const texts = kept.get();
    for (const field of fields()) if (typeof texts[field.name] === "string") field.value = texts[field.name];
  }
  offer();
  work.addEventListener("input", keep);
  work.addEventListener("click", (event) => {
    if (!event.target.closest(".try-kept button")) return;
    kept.drop();
    location.replace(location.pathname + location.search);
  });
  work.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.altKey || event.isComposing) return;
    event.preventDefault();
    button().form.requestSubmit(button());
  });

  // ---- what comes back. A field that was made larger stays so, though it is another element then

  let heights = new Map();
  work.addEventListener("htmx:beforeRequest", () => {
    heights = new Map(fields().map(({ name, style }) => [name, style.height]));
  });
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target === work) {
      for (const field of fields()) field.style.height = heights.get(field.name) ?? "";
      offer();
    }
    const toast = document.querySelector("#toasts .toast"); // a refusal that no field is to blame for; its place is here
    if (!toast) return;
    const text = toast.querySelector("p").textContent.replace(/^Not sent: (.)/, (_, first) => first.toUpperCase());
    toast.remove();
    nothing("Nothing was judged", text);
  });

  // ---- nothing came back, or nothing of ours

  const WHY = { 0: "the server did not answer", 413: "that is larger than the server takes" };

  function nothing(title, text) {
    const notice = document.getElementById("try-nothing").content.cloneNode(true);
    notice.querySelector("h2").textContent = title;
    notice.querySelector("p").textContent = text;
    work.querySelector(".try-result").replaceChildren(notice);
    for (const field of fields()) { // what was wrong at an earlier try may be mended by now
      field.removeAttribute("aria-invalid");
      field.setAttribute("aria-describedby", `h-${field.name}`);
      document.getElementById(`e-${field.name}`)?.remove();
    }
    setTimeout(() => button().focus()); // htmx lets the form go right after this
  }

  for (const name of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
    work.addEventListener(name, (event) => {
      event.stopPropagation(); // or a toast would say it once more
      nothing(`Nothing was judged: ${WHY[event.detail.xhr.status] ?? "the server could not do this"}.`, "What you typed is still here.");
    });
  }
})();
