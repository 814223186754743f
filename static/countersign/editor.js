// The editor of a process file: the gutter follows what is typed, an issue leads to its line, and a page
// with changes is not left by accident. Everything works without it.
"use strict";
(() => {
  const source = document.getElementById("src");
  if (!source || source.readOnly) return;
  const form = source.form;
  const gutter = document.querySelector(".gutter");
  const box = source.closest(".editor-box");
  const before = source.value;
  let sending = false;

  function follow() {
    if (!gutter) return;
    const lines = source.value.split("\n").length;
    source.rows = lines + 1;
    while (gutter.children.length > lines) gutter.lastElementChild.remove();
    while (gutter.children.length < lines) {
      const line = document.createElement("li");
      line.textContent = gutter.children.length + 1;
      gutter.append(line);
    }
  }

  function goTo(line) {
    const lines = source.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    source.focus();
    source.setSelectionRange(start, start + (lines[line - 1] || "").length);
    const height = source.scrollHeight / source.rows;
    box.scrollTop = Math.max(0, (line - 6) * height);
    box.scrollIntoView({ block: "nearest" });
  }

  const issues = [...document.querySelectorAll(".issues a[data-line]")];
  issues.forEach((issue) => issue.addEventListener("click", (event) => {
    event.preventDefault();
    goTo(Number(issue.dataset.line));
  }));

  source.addEventListener("input", follow);
  source.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button[value=check]"));
    }
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !issues.length) return;
    const step = { n: 1, p: -1 }[event.key];
    if (!step) return;
    const at = issues.indexOf(document.activeElement);
    issues[(at + step + issues.length) % issues.length].focus();
  });
  form.addEventListener("submit", () => { sending = true; });
  window.addEventListener("beforeunload", (event) => {
    if (!sending && source.value !== before) event.preventDefault();
  });
  follow();
})();
