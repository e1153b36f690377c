/** Operate page: health, plots, sizes, slow commands. */
import { useEffect, useState } from 'preact/hooks'
import { send } from '../api/send.ts'
import { SelectField } from '../kit/fields.tsx'
import { ErrorNotice, Loading, Notice } from '../kit/notice.tsx'
import { healthWords, type Health } from './health-words.ts'
import { addLook, plotsOf, timesOf, type HealthSample } from './history.ts'
import { LivePlot } from './live-plot.tsx'
import { parseMetrics } from './parse-metrics.ts'
import { SizesTable } from './sizes-table.tsx'
import { SlowCommands } from './slow-commands.tsx'

type Pace = '2' | '10' | 'off'

export function OperatePage() {
  const [pace, setPace] = useState<Pace>('2')
  const watched = useWatched(pace)
  return (
    <div class="page operate-page">
      <div class="page-head">
        <h1>Operate</h1>
        <SelectField<Pace>
          label="Refresh interval"
          isLabelHidden
          value={pace}
          onChange={setPace}
          choices={[
            { value: '2', label: 'Every 2 seconds' },
            { value: '10', label: 'Every 10 seconds' },
            { value: 'off', label: 'Paused' },
          ]}
        />
      </div>
      <HealthNotice health={watched.health} error={watched.healthError} />
      <Plots looks={watched.looks} problem={watched.metricsProblem} />
      <SizesTable />
      <SlowCommands />
    </div>
  )
}

interface Watched {
  readonly looks: readonly HealthSample[]
  /** The reason why metrics are unavailable, as a sentence. */
  readonly metricsProblem?: string
  readonly health?: Health
  readonly healthError?: unknown
}

/**
 * Polls metrics and health, at once and then repeatedly. A poll starts only after the previous poll
 * was answered.
 */
function useWatched(pace: Pace): Watched {
  const [watched, setWatched] = useState<Watched>({ looks: [] })
  useEffect(() => {
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async () => {
      const [metrics, health] = await Promise.allSettled([readMetrics(), readHealth()])
      if (isOver) return
      setWatched(({ looks }) => ({
        ...(metrics.status === 'fulfilled'
          ? { looks: addLook(looks, metrics.value) }
          : { looks, metricsProblem: (metrics.reason as Error).message }),
        ...(health.status === 'fulfilled'
          ? { health: health.value }
          : { healthError: health.reason as unknown }),
      }))
      if (pace !== 'off') timer = setTimeout(() => void look(), Number(pace) * 1000)
    }
    void look()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [pace])
  return watched
}

async function readMetrics(): Promise<HealthSample> {
  const response = await send('metrics')
  if (response.status === 404)
    throw new Error('The server has no metrics: it was started with --metrics off.')
  if (!response.ok) throw new Error('This token may not read the metrics of the server.')
  const text = await response.text()
  if (text.startsWith('{'))
    throw new Error('This token may not read the metrics of the server.')
  return { time: Date.now() / 1000, metrics: parseMetrics(text) }
}

async function readHealth(): Promise<Health> {
  return (await (await send('stargate/health')).json()) as Health
}

function HealthNotice({
  health,
  error,
}: {
  readonly health: Health | undefined
  readonly error: unknown
}) {
  if (error !== undefined) return <ErrorNotice error={error} />
  if (health === undefined) return <Loading label="Loading the health" />
  const { isWell, title, sentences } = healthWords(health)
  return (
    <Notice kind={isWell ? 'good' : 'error'} title={title}>
      {sentences.join(' ')}
    </Notice>
  )
}

function Plots({
  looks,
  problem,
}: {
  readonly looks: readonly HealthSample[]
  readonly problem: string | undefined
}) {
  if (problem !== undefined) return <Notice>{problem}</Notice>
  if (looks.length < 2) return <Loading label="Loading the metrics" />
  const times = timesOf(looks)
  return (
    <section class="plots" aria-label="Plots">
      {plotsOf(looks).map((plot) => (
        <LivePlot key={plot.title} plot={plot} times={times} />
      ))}
    </section>
  )
}
