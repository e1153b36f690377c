export function DatabasePage({ database }: { readonly database: string }) {
  return <p>{database}</p>
}
