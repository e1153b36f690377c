/** What operators can set about providers. */
export interface ProviderSettings {
  /** URLs to call instead of the provider's own, by provider. */
  readonly embeddingUrls: ReadonlyMap<string, string>
  readonly rerankingUrls: ReadonlyMap<string, string>
  /**
   * Keys of the server's, for requests that bring none: "openai" is the provider's key,
   * "openai.team" one that collections choose by the name "team".
   */
  readonly embeddingKeys: ReadonlyMap<string, string>
  readonly rerankingKeys: ReadonlyMap<string, string>
  /** Whether URLs that collections name may lead into the server's own network. */
  readonly privateProviders: boolean
}

export const defaultProviderSettings: ProviderSettings = {
  embeddingUrls: new Map(),
  rerankingUrls: new Map(),
  embeddingKeys: new Map(),
  rerankingKeys: new Map(),
  privateProviders: false,
}
