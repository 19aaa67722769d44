// Turns a part of the page into what the server says it is now, and leaves alone what a person has chosen, typed,
// unfolded or focused there. Elements are told apart by their ids, so every control in such a part has one.
const morph = (() => {
  "use strict";
  const CONTROLS = "input, select, textarea";

  // --- what a person has touched ---
  const firstChoice = ({ options }) => [...options].find((one) => one.defaultSelected) || options[0];
  const differs = (control) => {
    if (control instanceof HTMLSelectElement) return control.selectedOptions[0] !== firstChoice(control);
    if (control.type === "checkbox" || control.type === "radio") return control.checked !== control.defaultChecked;
    return control.value !== control.defaultValue;
  };
  const isTouched = (control) => control === document.activeElement || differs(control);

  // --- what is gone ---
  const nameOf = (control) => (control.labels?.[0]?.textContent || control.ariaLabel || control.name || control.id).trim();
  const wordsOf = (control) => {
    if (control.type === "password") return "a password";
    return `“${control.selectedOptions?.[0]?.textContent || control.value}”`;
  };
  const lost = ({ name, words }) => `“${name}” is gone: what it belonged to was deleted meanwhile. You had ${words} there.`;
  const noChoice = ({ name, words }) => `${words} can no longer be chosen for “${name}”: it was deleted meanwhile.`;

  return (now, next) => {
    const touched = new Map();
    for (const control of now.querySelectorAll(CONTROLS)) {
      if (!isTouched(control)) continue;
      touched.set(control, { name: nameOf(control), words: wordsOf(control), value: control.value, differs: differs(control) });
    }
    const keeps = (attribute, element) => {
      if (attribute === "open") return element.matches("details, dialog");
      if (attribute === "value" || attribute === "checked") return touched.has(element);
      return attribute.includes("disabled") && "disabledByHtmx" in element.dataset; // until its request has ended
    };
    // A text area's words are its content; what is loaded into an element with data-keep, nobody else knows of.
    const stays = (element) => {
      if (element instanceof HTMLTextAreaElement) return touched.has(element);
      return element instanceof HTMLElement && "keep" in element.dataset;
    };
    const made = Idiomorph.morph(now, next, {
      callbacks: {
        beforeAttributeUpdated: (attribute, element) => !keeps(attribute, element),
        beforeNodeMorphed: (element) => !stays(element),
      },
    });
    const problems = [];
    for (const [control, before] of touched) {
      if (control instanceof HTMLSelectElement) control.value = before.value; // its options may have changed places
      if (!before.differs) continue;
      if (!control.isConnected) problems.push(lost(before));
      else if (control.selectedIndex === -1) problems.push(noChoice(before));
    }
    if (problems.length) htmx.trigger(document.body, "gone", { problem: problems.join(" ") });
    return made;
  };
})();

// It is named by each element that swaps so, for an element that has left the page meanwhile inherits nothing from it;
// and by the body, for what is swapped beside the target.
htmx.defineExtension("morph", {
  isInlineSwap: (style) => style === "morph",
  handleSwap: (style, target, { firstElementChild }) => style === "morph" && morph(target, firstElementChild),
});
