/** Button that loads sample data. */
import { useState } from 'preact/hooks'
import { Button } from '../kit/button.tsx'
import { useAction } from '../kit/hooks.ts'
import { ErrorNotice } from '../kit/notice.tsx'
import { goTo, routeTo } from '../navigation/route.ts'
import { loadTargets } from '../catalog/catalog.ts'

/** Button that loads the sample data into the keyspace and opens the collection. */
export function SampleButton({
  database,
  keyspace,
  kind = 'normal',
}: {
  readonly database: string
  readonly keyspace: string
  readonly kind?: 'normal' | 'primary'
}) {
  const [progress, setProgress] = useState('')
  const { run, isBusy, error, clearError } = useAction(async () => {
    setProgress('')
    // Loads the module with the sample texts on the first click, because most users never need it.
    const { loadSamples, sampleName } = await import('./load-samples.ts')
    await loadSamples({ database, keyspace }, (done, all) =>
      setProgress(`${done} of ${all}`),
    )
    await loadTargets(database, keyspace)
    goTo(routeTo(database, keyspace, sampleName, 'data'))
  })
  return (
    <>
      <Button kind={kind} onClick={run} isDisabled={isBusy}>
        {isBusy ? `Loading sample data ${progress}` : 'Load sample data'}
      </Button>
      <ErrorNotice error={error} onClose={clearError} />
    </>
  )
}
