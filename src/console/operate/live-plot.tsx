/** A live plot, with its current values as text. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { theme } from '../kit/theme.ts'
import { formatBytes, formatMs, formatShortCount } from '../kit/format.ts'
import { useName, useStore } from '../kit/hooks.ts'
import type { Plot, Unit } from './history.ts'

export interface LivePlotProps {
  readonly plot: Plot
  readonly times: readonly number[]
}

const height = 140

/** Minimum time span of the x axis in seconds. On a shorter span, several labels would be equal. */
const shownSecondsMin = 20

export function LivePlot({ plot, times }: LivePlotProps) {
  const { title, unit, series } = plot
  const host = useRef<HTMLDivElement>(null)
  const legend = useRef<HTMLUListElement>(null)
  const drawn = useRef<UPlot | undefined>(undefined)
  const name = useName('plot')
  // Renders again when the theme changes, so that the plot gets the colours of the theme.
  useStore(theme)
  const names = series.map((each) => each.name).join()
  const data = [
    [...times],
    ...series.map(({ points }) => points.map((point) => point ?? null)),
  ] as UPlot.AlignedData
  // uPlot cannot change the number of lines, so a new plot replaces the old one.
  useLayoutEffect(() => {
    const element = host.current!
    const swatches = [...legend.current!.querySelectorAll('.plot-swatch')]
    const made = new UPlot(optionsFor(element, plot, swatches), data, element)
    drawn.current = made
    const observer = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height }),
    )
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [names])
  useEffect(() => drawn.current?.setData(data))
  return (
    <figure class="live-plot" aria-labelledby={name}>
      <figcaption id={name}>{title}</figcaption>
      <ul class="plot-legend" ref={legend}>
        {series.map((each, position) => (
          <li key={each.name}>
            <span class={`plot-swatch line-${position + 1}`} aria-hidden="true" />
            {each.name} <strong>{formatValue(each.points.at(-1), unit)}</strong>
          </li>
        ))}
      </ul>
      <div ref={host} class="plot-canvas" aria-hidden="true" />
    </figure>
  )
}

function optionsFor(
  element: HTMLElement,
  { unit, series }: Plot,
  swatches: readonly Element[],
): UPlot.Options {
  // `style` is a live object: every redraw reads the current colours.
  const style = getComputedStyle(element)
  const axis = {
    stroke: () => style.color,
    font: `11px ${style.fontFamily}`,
    grid: { stroke: () => style.borderTopColor, width: 1 },
    ticks: { show: false },
  }
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, sync: { key: 'operate' }, points: { size: 6 } },
    scales: {
      x: { range: (_plot, min, max) => [Math.min(min, max - shownSecondsMin), max] },
      y: { range: (_plot, _min, max) => [0, Math.max(max * 1.1, smallest[unit])] },
    },
    axes: [
      { ...axis, size: 24, space: 70, values: (_plot, ticks) => ticks.map(timeOf) },
      {
        ...axis,
        size: 58,
        space: 28,
        values: (_plot, ticks) => ticks.map((tick) => formatValue(tick, unit)),
      },
    ],
    series: [
      {},
      ...series.map(({ name }, position) => ({
        label: name,
        stroke: () => getComputedStyle(swatches[position]!).color,
        width: 1.6,
        points: { show: false },
      })),
    ],
  }
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString('en', { hour12: false })
}

/** Minimum upper bound of the y axis, which applies if all values are small or zero. */
const smallest: Readonly<Record<Unit, number>> = {
  count: 4,
  perSecond: 1,
  ms: 1,
  bytes: 1_000,
}

function formatValue(value: number | undefined, unit: Unit): string {
  if (value === undefined) return 'none'
  switch (unit) {
    case 'bytes':
      return formatBytes(Math.round(value))
    case 'ms':
      return value === 0 ? '0 ms' : formatMs(value)
    case 'perSecond':
      return value < 10 ? trimmed(value) : formatShortCount(Math.round(value))
    case 'count':
      return formatShortCount(Math.round(value * 10) / 10)
  }
}

function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '')
}
