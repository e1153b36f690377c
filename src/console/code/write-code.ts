/**
 * Shows a command as code in several languages, so that users can copy the code and run it
 * elsewhere.
 */
import { writeCurl } from './curl.ts'
import { writeJava } from './java.ts'
import { writePython } from './python.ts'
import { writeTypeScript } from './typescript.ts'
import type { CodeRequest } from './code-request.ts'

export interface CodeLanguage {
  readonly id: 'curl' | 'typescript' | 'python' | 'java'
  readonly name: string
  /** Requirements of the code, such as packages. */
  readonly needs: string
  /** Writes the code of a request. Throws a SyntaxError when the body is not JSON. */
  readonly write: (request: CodeRequest) => string
}

export const codeLanguages: readonly CodeLanguage[] = [
  {
    id: 'curl',
    name: 'curl',
    needs: 'The token is read from the environment variable STELA_TOKEN.',
    write: writeCurl,
  },
  {
    id: 'typescript',
    name: 'TypeScript',
    needs:
      'Run npm install @datastax/astra-db-ts, and save the code as example.mts. The token is read from the environment variable STELA_TOKEN.',
    write: writeTypeScript,
  },
  {
    id: 'python',
    name: 'Python',
    needs:
      'Run pip install astrapy. The token is read from the environment variable STELA_TOKEN.',
    write: writePython,
  },
  {
    id: 'java',
    name: 'Java',
    needs:
      'Add the dependency com.datastax.astra:astra-db-java:2.1.4, and save the code as Example.java. The token is read from the environment variable STELA_TOKEN.',
    write: writeJava,
  },
]
