/**
 * Something that the person who runs a command can mend: one line on standard error says it
 * all.
 */
export class CommandFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Failure'
  }
}

/** Runs the work of a command. Its failures become one line and exit status 1. */
export async function reportFailures(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    process.stderr.write(`stela: ${printable(error.message)}\n`)
    process.exitCode = 1
  }
}

/** On one line, and without what a terminal takes for orders: a server may have said it. */
function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}

/** What the system says about a file, in one line; anything else is not expected here. */
export function fileFailure(error: unknown): CommandFailure {
  if (error instanceof CommandFailure) return error
  const { syscall, code, message } = error as NodeJS.ErrnoException
  if (syscall === undefined && code === undefined) throw error
  return new CommandFailure(message)
}
