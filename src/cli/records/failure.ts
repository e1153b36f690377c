/** Something that whoever runs a command can mend: one line on standard error says it all. */
export class Failure extends Error {
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
    if (!(error instanceof Failure)) throw error
    process.stderr.write(`stela: ${error.message}\n`)
    process.exitCode = 1
  }
}

/** What the system says about a file, in one line; anything else is not expected here. */
export function fileFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  const { syscall, code, message } = error as NodeJS.ErrnoException
  if (syscall === undefined && code === undefined) throw error
  return new Failure(message)
}
