// random.ts -- trials with numbers that are the same each time; the one that fails is told.

export function generator(seed: number): (low: number, high: number) => number {
  let state = seed >>> 0;
  return (low, high) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let v = Math.imul(state ^ (state >>> 15), state | 1);
    v ^= v + Math.imul(v ^ (v >>> 7), v | 61);
    return low + ((high - low) * ((v ^ (v >>> 14)) >>> 0)) / 2 ** 32;
  };
}

export function randomly(trials: number, trial: (random: (low: number, high: number) => number) => void): void {
  for (let seed = 1; seed <= trials; seed++) {
    try {
      trial(generator(seed));
    } catch (error) {
      throw new Error(`trial ${seed}`, { cause: error });
    }
  }
}
