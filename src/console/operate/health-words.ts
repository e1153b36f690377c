/** Describes health checks in sentences. */
export interface Health {
  readonly status: 'UP' | 'DOWN'
  readonly checks: readonly HealthCheck[]
}

export interface HealthCheck {
  readonly name: string
  readonly status: 'UP' | 'DOWN'
  readonly data?: { readonly problem?: string }
}

export interface HealthWords {
  readonly isWell: boolean
  readonly title: string
  readonly sentences: readonly string[]
}

/** Sentences for passed checks, by their name in the server's reply. */
const wellSentences: Readonly<Record<string, string>> = {
  'accepting requests': 'The server accepts requests.',
  store: 'The store is readable and writable.',
}

export function healthWords({ status, checks }: Health): HealthWords {
  const isWell = status === 'UP'
  return {
    isWell,
    title: isWell ? 'Healthy' : 'Not healthy',
    sentences: checks.map(sentenceOf),
  }
}

function sentenceOf({ name, status, data }: HealthCheck): string {
  if (status === 'UP') return wellSentences[name] ?? `Passed: ${name}.`
  const problem = data?.problem ?? 'no reason given'
  return `${capital(name)}: ${problem}${/[.!?]$/.test(problem) ? '' : '.'}`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
