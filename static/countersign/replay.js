// Thresholds: a slider beside each number, and how the last verdicts would have come out as it moves.
// Without it the button does the same, by a page of its own.
"use strict";
(() => {
  const button = document.querySelector("button[data-replay]");
  const shown = document.getElementById("replay");
  if (!button || !shown) return;
  const form = button.form;
  let due = 0;
  let turn = 0;

  async function ask() {
    const mine = ++turn;
    const sent = new FormData(form);
    sent.set(button.name, button.value);
    try {
      const answer = await fetch(button.formAction, { method: "POST", body: sent });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("replay");
      if (mine === turn && answer.ok && fresh) shown.replaceChildren(...fresh.childNodes);
    } catch {
      // the server is away for a moment; the next move asks again
    }
  }

  function soon() {
    clearTimeout(due);
    due = setTimeout(ask, 250);
  }

  for (const field of form.querySelectorAll("input[data-slider]")) {
    const slider = document.createElement("input");
    slider.type = "range";
    slider.min = 0;
    slider.max = 1;
    slider.step = 0.01;
    slider.className = "slider";
    const label = form.querySelector(`label[for="${CSS.escape(field.id)}"]`);
    slider.setAttribute("aria-label", `${label ? label.textContent.trim().replace(/:$/, "") : field.name}, slider`);
    const follow = () => { slider.value = field.value || field.dataset.slider; };
    follow();
    field.addEventListener("input", () => { follow(); soon(); });
    slider.addEventListener("input", () => { field.value = slider.value; soon(); });
    field.after(slider);
  }
  for (const choice of form.querySelectorAll("select")) choice.addEventListener("change", soon);
  button.addEventListener("click", (event) => {
    event.preventDefault();
    ask();
  });
})();
