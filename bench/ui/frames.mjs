/** How long frames take while something happens in a page, as the page itself sees them. */

/** A frame that people notice. */
const SLOW_MS = 50

/** The frames of an act: how many, the time that one in twenty exceeds, the longest, and how many people notice. */
export async function framesDuring(page, act) {
  await page.evaluate(sampleFrames)
  await act()
  const times = (await page.evaluate(() => window.endFrames())).toSorted((a, b) => a - b)
  return {
    frames: times.length,
    p95: times[Math.floor(times.length * 0.95)],
    max: times.at(-1),
    slow: times.filter((ms) => ms > SLOW_MS).length,
  }
}

/** Runs in the page. */
function sampleFrames() {
  const times = []
  let last
  let isOn = true
  const look = (now) => {
    if (last !== undefined) times.push(now - last)
    last = now
    if (isOn) requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
  window.endFrames = () => {
    isOn = false
    return times
  }
}
