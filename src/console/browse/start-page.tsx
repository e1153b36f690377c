export function StartPage() {
  return <p>start</p>
}
