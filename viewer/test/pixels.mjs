// pixels.mjs -- how far a picture of a page is from one of 'bouma render'.

/** The largest difference of a channel, with 'part' at a place of 'whole'. */
function difference(whole, part, left, top, enough) {
  let most = 0;
  for (let y = 0; y < part.height; y++)
    for (let x = 0; x < part.width; x++)
      for (let c = 0; c < 3; c++) {
        const a = whole.data[4 * ((y + top) * whole.width + x + left) + c];
        most = Math.max(most, Math.abs(a - part.data[4 * (y * part.width + x) + c]));
        if (most > enough) return most;
      }
  return most;
}

/** The picture of 'bouma render' has a title and axes around its cells: the best place for 'part'. */
export function bestDifference(whole, part) {
  let best = 64; // beyond that it is another picture
  for (let top = 0; top + part.height <= whole.height; top++)
    for (let left = 0; left + part.width <= whole.width; left++) best = Math.min(best, difference(whole, part, left, top, best));
  return best;
}

// Samples come in 255 shades, and the pictures of the program have fewer than 256 colours: each is
// half a shade off at most, where colours change by about 3 from one to the next.
export const tolerance = 6;
