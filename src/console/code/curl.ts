import { readWholeTree } from '../json/json-tree.ts'
import { escapeChar, jsonLiterals, printTree, quoteJson } from '../json/print-tree.ts'
import { commandUrl, type CodeRequest } from './code-request.ts'

/** Maximum length of a command-line argument. Linux allows 128 KiB; some systems allow less. */
const argumentLengthMax = 100_000

export function writeCurl(request: CodeRequest): string {
  const body = printTree(
    readWholeTree(`{${quoteJson(request.command)}: ${request.body}}`),
    shellJson,
    {
      indent: '  ',
      step: '  ',
      width: 90,
    },
  )
  const head = `curl -sS ${quoteShell(commandUrl(request))} \\
  -H "Token: $STELA_TOKEN" -H 'Content-Type: application/json' \\`
  if (body.length > argumentLengthMax)
    return `${head}\n  --data-binary @- <<'END_OF_COMMAND'\n  ${body}\nEND_OF_COMMAND\n`
  return `${head}\n  -d '${body}'\n`
}

/** Some interactive shells expand ! even inside quotes, so the JSON text escapes it. */
const shellJson = { ...jsonLiterals, string: quoteForShell, key: quoteForShell }

function quoteForShell(value: string): string {
  return quoteJson(value).replaceAll(/['!]/g, escapeChar)
}

function quoteShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
