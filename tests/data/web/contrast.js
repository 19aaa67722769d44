() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (c) => {
    const linear = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = c.slice(0, 3).map(v => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const c = rgb(getComputedStyle(one).backgroundColor);
      if (c[3] > 250) return c;
    }
    return [255, 255, 255, 255];
  };
  const texts = [...document.querySelectorAll("body *")].filter(one =>
    one.checkVisibility() && !one.closest(".sr-only, svg, :disabled, .off")
    && [...one.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()));
  return texts.map(one => {
    const style = getComputedStyle(one), a = light(rgb(style.color)), b = light(ground(one));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const words = `${one.className}: ${ratio.toFixed(2)} ${one.textContent.trim().slice(0, 30)}`;
    return [ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5), words];
  }).filter(([bad]) => bad).map(([, words]) => words);
}