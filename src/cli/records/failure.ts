/** An error that the user can fix. The command prints it as one line on standard error. */
export class CommandFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Failure'
  }
}

/** Runs a command. A CommandFailure becomes one line and exit status 1. */
export async function reportFailures(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    process.stderr.write(`stela: ${printable(error.message)}\n`)
    process.exitCode = 1
  }
}

/**
 * Replaces line breaks and terminal control characters by spaces, because the text may come from a
 * server.
 */
function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}

/** Converts a file system error to a CommandFailure; throws any other error. */
export function fileFailure(error: unknown): CommandFailure {
  if (error instanceof CommandFailure) return error
  const { syscall, code, message } = error as NodeJS.ErrnoException
  if (syscall === undefined && code === undefined) throw error
  return new CommandFailure(message)
}
