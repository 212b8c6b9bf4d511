// picture.ts -- the picture that is saved: what is drawn, with the legend and a line that says what
// it is.

/** A colour bar, with what is at its ends. */
export interface Bar {
  title: string;
  canvas: HTMLCanvasElement;
  ends: string[];
}

/** A text with its middle at a place of the picture. */
export interface Label {
  text: string;
  x: number;
  y: number;
}

const margin = 12;
const barWidth = 180;

/** 'drawn' as it is on the screen, at 'ratio' of its pixels to those of the page. */
export async function compose(drawn: Blob, ratio: number, caption: string, bars: Bar[], labels: Label[]): Promise<Blob | null> {
  const image = await createImageBitmap(drawn);
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  const context = canvas.getContext("2d")!;
  context.drawImage(image, 0, 0);
  context.scale(ratio, ratio);
  const [width, height] = [image.width / ratio, image.height / ratio];
  const style = getComputedStyle(document.documentElement);
  context.fillStyle = style.getPropertyValue("--text");
  context.font = '13px system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = "top";
  context.fillText(caption, margin, margin, width - 2 * margin);
  context.textAlign = "center";
  for (const { text, x, y } of labels) context.fillText(text, x, y - 6);
  // The legend covers what is behind it, as on the screen.
  const panel = barWidth * bars.length + margin * (bars.length + 1);
  context.fillStyle = style.getPropertyValue("--back");
  if (bars.length) context.fillRect(width - panel, height - 72, panel, 72);
  context.fillStyle = style.getPropertyValue("--text");
  bars.forEach((bar, i) => {
    const left = width - (barWidth + margin) * (bars.length - i);
    const top = height - margin - 48;
    context.textAlign = "left";
    context.fillText(bar.title, left, top, barWidth);
    context.drawImage(bar.canvas, left, top + 18, barWidth, 10);
    bar.ends.forEach((end, j) => {
      context.textAlign = (["left", "center", "right"] as const)[j];
      context.fillText(end, left + (j * barWidth) / 2, top + 32);
    });
  });
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
