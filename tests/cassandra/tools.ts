/** Tools that Cassandra needs on the machine: Java to run it, Maven to download it. */
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const runProgram = promisify(execFile)

/** Cassandra 5.0 runs on Java 17 and 11, and on no later release. */
const javaMajor = '17'

export interface Java {
  readonly program: string
  /** The build of Java, such as 17.0.15+6-Debian-1deb12u1. */
  readonly build: string
}

/** A tool that a real Cassandra needs. */
export interface Tool {
  readonly name: string
  readonly debianPackage: string
}

const java: Tool = {
  name: `Java ${javaMajor}`,
  debianPackage: `openjdk-${javaMajor}-jre-headless`,
}
const maven: Tool = { name: 'Maven', debianPackage: 'maven' }

/** An error that names in one line what to install. */
export class MissingTool extends Error {
  override readonly name = 'MissingTool'
  readonly tools: readonly Tool[]

  constructor(...tools: readonly Tool[]) {
    const names = tools.map(({ name }) => name).join(' and ')
    const packages = tools.map(({ debianPackage }) => debianPackage).join(' ')
    super(
      `A real Cassandra needs ${names}: apt-get install ${packages}; ` +
        'or name a running node, STELA_TEST_CASSANDRA=host:port',
    )
    this.tools = tools
  }
}

/**
 * Finds Java by JAVA_HOME, by PATH, or in Debian's folders, where a later release may be the
 * default.
 */
export async function findJava(): Promise<Java> {
  const home = process.env['JAVA_HOME']
  const programs = [
    ...(home === undefined ? [] : [join(home, 'bin/java')]),
    'java',
    ...globSync(`/usr/lib/jvm/*-${javaMajor}-*/bin/java`),
  ]
  for (const program of programs) {
    const build = await buildOf(program)
    if (build?.startsWith(`${javaMajor}.`)) return { program, build }
  }
  throw new MissingTool(java)
}

async function buildOf(program: string): Promise<string | undefined> {
  try {
    const { stderr } = await runProgram(program, ['-version'])
    return /\(build ([^,)]+)/.exec(stderr)?.[1]
  } catch {
    return undefined
  }
}

/** The name of the Maven program. */
export async function findMaven(): Promise<string> {
  const program = 'mvn'
  try {
    await runProgram(program, ['-version'])
    return program
  } catch {
    throw new MissingTool(maven)
  }
}
