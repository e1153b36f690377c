/** Parses the embedding service of a collection or column. */
import type { GivenService } from '../providers/embedding-service.ts'
import { sectionIn, textIn, type Section } from './option-section.ts'

export function readEmbeddingService(service: Section): GivenService
export function readEmbeddingService(service: Section | undefined): GivenService | undefined
export function readEmbeddingService(
  service: Section | undefined,
): GivenService | undefined {
  if (service === undefined) return undefined
  return {
    provider: textIn(service, 'provider'),
    modelName: textIn(service, 'modelName'),
    authentication: readAuthentication(service),
    parameters: sectionIn(service, 'parameters')?.members,
  }
}

function readAuthentication(service: Section): Map<string, string> | undefined {
  const authentication = sectionIn(service, 'authentication')
  if (authentication === undefined) return undefined
  const credentials = new Map<string, string>()
  for (const key of authentication.members.keys()) {
    const credential = textIn(authentication, key)
    if (credential !== undefined) credentials.set(key, credential)
  }
  return credentials
}
