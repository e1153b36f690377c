import { checkDocumentInSteps } from '../../src/collections/validate.ts'
import { atOnce } from '../../src/runtime/steps.ts'

/** Throws at the first rule that the document breaks. */
export function checkDocument(...given: Parameters<typeof checkDocumentInSteps>): void {
  const rest = checkDocumentInSteps(...given)
  if (rest !== undefined) atOnce(rest)
}
