/** Plots queries per second against recall as SVG. */

export interface Curve {
  readonly title: string
  readonly lines: readonly Line[]
}

export interface Line {
  readonly name: string
  readonly points: readonly Point[]
}

export interface Point {
  readonly recall: number
  readonly queriesPerSecond: number
}

const width = 720
const height = 440
const left = 80
const right = width - 24
const top = 48
const bottom = height - 56

/** Minimum recall in the plot, because lower recall is not useful. */
const recallMin = 0.8

export function plotCurve({ title, lines }: Curve): string {
  const shown = lines.map(({ name, points }) => ({
    name,
    points: points.filter(({ recall }) => recall >= recallMin),
  }))
  const rates = shown.flatMap(({ points }) => points.map((point) => point.queriesPerSecond))
  const decades = stepsAround(rates)
  const yOf = logarithmic(decades[0]!, decades.at(-1)!)
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">`,
    style(lines.length),
    `<text class="title" x="${left}" y="24">${title}</text>`,
    ...decades.map((rate) => rateGrid(rate, yOf(rate))),
    ...recallSteps.map((recall) => recallGrid(recall, xOf(recall))),
    `<text x="${(left + right) / 2}" y="${height - 12}" text-anchor="middle">recall@10</text>`,
    `<text transform="translate(20 ${(top + bottom) / 2}) rotate(-90)" text-anchor="middle">queries/s</text>`,
    ...shown.map((line, i) => drawLine(line, i, yOf)),
    ...lines.map(({ name }, i) => legend(name, i, lines.length - i)),
    '</svg>',
  ].join('\n')}\n`
}

/** Colours that are distinct on white and on black, also for most people with colour blindness. */
const colours = [
  { light: '#0b5fa5', dark: '#6cb6ff' },
  { light: '#b3540a', dark: '#ffab5e' },
  { light: '#5b6470', dark: '#b6bec8' },
  { light: '#8a2c7e', dark: '#e38ad8' },
]

function style(lines: number): string {
  const rules = (scheme: 'light' | 'dark') =>
    Array.from({ length: lines }, (_, i) => {
      const colour = colours[i % colours.length]![scheme]
      return `.l${i}{stroke:${colour}}.f${i}{fill:${colour}}`
    }).join('')
  return (
    '<style>text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-weight:600}' +
    '.grid{stroke:#d0d7de}.line{fill:none;stroke-width:2}' +
    rules('light') +
    '@media(prefers-color-scheme:dark){text{fill:#d5dbe2}.grid{stroke:#3b434c}' +
    `${rules('dark')}}</style>`
  )
}

const recallSteps = [0.8, 0.85, 0.9, 0.95, 0.99, 1]

function xOf(recall: number): number {
  return left + ((recall - recallMin) / (1 - recallMin)) * (right - left)
}

/**
 * Ticks of the axis of rates: 1, 2 and 5 times powers of ten, in a range that contains all rates.
 */
function stepsAround(rates: readonly number[]): number[] {
  const least = Math.min(...rates)
  const greatest = Math.max(...rates)
  const steps: number[] = []
  for (let power = -2; power < 9; power++)
    for (const factor of [1, 2, 5]) steps.push(factor * 10 ** power)
  const from = steps.findLastIndex((step) => step <= least)
  const to = steps.findIndex((step) => step > greatest)
  return steps.slice(Math.max(0, from), to + 1)
}

function logarithmic(least: number, greatest: number): (rate: number) => number {
  const span = Math.log(greatest / least)
  return (rate) => bottom - (Math.log(rate / least) / span) * (bottom - top)
}

function rateGrid(rate: number, y: number): string {
  return (
    `<path class="grid" d="M${left} ${y.toFixed(1)}H${right}"/>` +
    `<text x="${left - 8}" y="${(y + 4).toFixed(1)}" text-anchor="end">${rate.toLocaleString('en-US')}</text>`
  )
}

function recallGrid(recall: number, x: number): string {
  return (
    `<path class="grid" d="M${x.toFixed(1)} ${top}V${bottom}"/>` +
    `<text x="${x.toFixed(1)}" y="${bottom + 20}" text-anchor="middle">${recall}</text>`
  )
}

function drawLine({ points }: Line, number: number, yOf: (rate: number) => number): string {
  const places = points.map(({ recall, queriesPerSecond }) => ({
    x: xOf(recall).toFixed(1),
    y: yOf(queriesPerSecond).toFixed(1),
  }))
  const path = places.map(({ x, y }) => `${x} ${y}`).join('L')
  const dots = places.map(
    ({ x, y }) => `<circle class="f${number}" cx="${x}" cy="${y}" r="3.5"/>`,
  )
  return `<path class="line l${number}" d="M${path}"/>${dots.join('')}`
}

function legend(name: string, number: number, fromBelow: number): string {
  const y = bottom + 4 - fromBelow * 20
  return (
    `<circle class="f${number}" cx="${left + 16}" cy="${y - 4}" r="4"/>` +
    `<text x="${left + 28}" y="${y}">${name}</text>`
  )
}
