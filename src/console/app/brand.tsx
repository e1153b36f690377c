export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
        <path class="brand-stone" d="M4 15V4.5a4 4 0 0 1 8 0V15z" />
        <path class="brand-lines" d="M6.2 6.5h3.6M6.2 9.2h3.6M6.2 11.9h3.6" />
      </svg>
      Stela
    </span>
  )
}
