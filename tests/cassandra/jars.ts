/** Jars of Cassandra, which Maven downloads once into a cache that all processes share. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeOnce } from './make-once.ts'
import { findMaven } from './tools.ts'

const cassandraVersion = '5.0.9'
const mavenPlugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1'

/** Cache folder of this version of Cassandra, so that files of other versions are not used. */
export const cacheFolder = join(
  process.env['STELA_CASSANDRA_CACHE'] ??
    fileURLToPath(new URL('../../node_modules/.cache/stela/cassandra', import.meta.url)),
  cassandraVersion,
)

const jarsFolder = join(cacheFolder, 'jars')

export function hasJars(): boolean {
  return existsSync(jarsFolder)
}

/** Paths of all jars in a stable order; downloads them if necessary. */
export async function bringJars(): Promise<readonly string[]> {
  await makeOnce(jarsFolder, download)
  const names = await readdir(jarsFolder)
  return names
    .filter((name) => name.endsWith('.jar'))
    .toSorted()
    .map((name) => join(jarsFolder, name))
}

async function download(folder: string): Promise<void> {
  const maven = await findMaven()
  await mkdir(folder)
  const project = join(folder, 'pom.xml')
  await writeFile(project, projectXml)
  const goal = `${mavenPlugin}:copy-dependencies`
  const options = ['-DincludeScope=runtime', `-DoutputDirectory=${folder}`]
  try {
    await promisify(execFile)(maven, ['-B', '-q', '-f', project, goal, ...options])
  } catch (error) {
    const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
    throw new Error(`Maven could not download Cassandra:\n${output}`, { cause: error })
  }
}

const projectXml = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>stela</groupId>
  <artifactId>cassandra-for-tests</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.cassandra</groupId>
      <artifactId>cassandra-all</artifactId>
      <version>${cassandraVersion}</version>
    </dependency>
  </dependencies>
</project>
`
