import { splitCode } from './code-tokens.ts'
import { CopyButton } from './copy-button.tsx'

/** Read-only text with a copy button, such as the command that a form sends. */
export function CodeBlock({
  label,
  text,
}: {
  readonly label: string
  readonly text: string
}) {
  return (
    <figure class="code-block">
      <figcaption>
        <span>{label}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre tabIndex={0} aria-label={label}>
        {splitCode(text).map(({ text: part, kind }, position) =>
          kind === undefined ? (
            part
          ) : (
            <span key={position} class={`code-${kind}`}>
              {part}
            </span>
          ),
        )}
      </pre>
    </figure>
  )
}
