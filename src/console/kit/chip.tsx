import { Button } from './button.tsx'

/** A removable mark, such as for a part of a query. */
export function Chip({
  text,
  label,
  onClose,
}: {
  readonly text: string
  readonly label: string
  readonly onClose: () => void
}) {
  return (
    <span class="chip">
      <span>{text}</span>
      <Button icon="close" label={label} kind="quiet" onClick={onClose} />
    </span>
  )
}
