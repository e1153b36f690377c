/** Repeats requests that an overloaded server or embedding service has rejected. */
import { CommandError } from './command.ts'

const attemptsMax = 8

/**
 * Sends a request, and repeats it with growing pauses while it is rejected as a whole. A rejected
 * request has changed nothing, so a repetition does nothing twice.
 */
export async function patiently<T>(send: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send()
    } catch (error) {
      if (!isBusy(error) || attempt === attemptsMax) throw error
      await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt))
    }
  }
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof CommandError &&
    ([429, 503].includes(error.httpStatus) ||
      error.code === 'EMBEDDING_PROVIDER_RATE_LIMITED')
  )
}
