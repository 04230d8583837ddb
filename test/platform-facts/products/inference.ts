import type { Fact } from "../fact.ts";

const openai = "test/clients/openai/openai.test.ts";
const details = "test/clients/openai/openai-details.test.ts";
const access = "test/engine/execute/inference-access.test.ts";
const schema = "test/simulator/inference/inference-schema.test.ts";
const accesses = "test/simulator/activity/access-entries.test.ts";
const told = "%s is told with its limits and prices";
const wrong = "a wrong %s is UnprocessableEntityError that names it";
const chat = "gets a chat answer that shows the prompt, and pays for what it shows";
const embeddings = "gets embeddings of 1024 numbers: the same for the same text";

/** Inference. */
export const inference: readonly Fact[] = [
  [280, "a model has its publisher", openai, "lists the models and reads one"],
  [281, "models are listed", access, "asks for no model that the platform does not have"],
  [282, "a typo is not found", openai, "a model that does not exist is NotFoundError with the nearest name"],
  [283, "the model of 24b", details, told, "mistralai/Mistral-Small-24B-Instruct"],
  [284, "the model of 120b", details, told, "openai/gpt-oss-120b"],
  [285, "the model of 70b", details, told, "meta-llama/Llama-3.3-70B-Instruct"],
  [286, "the model for embeddings does not chat", details, "a model for embeddings has one price, and does not chat"],
  [287, "1024 numbers", openai, embeddings],
  [288, "the same for the same text", openai, embeddings],
  [289, "a model is required", openai, wrong, "model"],
  [290, "messages are required", openai, wrong, "messages", "messages.0.role"],
  [291, "temperature is optional", details, "may set a temperature, and need not"],
  [292, "an answer without max_tokens is whole", openai, "gets a whole answer unless it asks for less"],
  [293, "answers are streamed", openai, "streams the same words; usage in the last chunk: %s"],
  [294, "with usage if asked", openai, "streams the same words; usage in the last chunk: %s"],
  [295, "a strict schema is kept", schema, "is one that the schema accepts, whatever the prompt"],
  [296, "schemas may have pattern, allOf and not", schema, "keeps the pattern %s"],
  [297, "the fields of an answer", openai, chat],
  [298, "finish_reason", openai, chat],
  [299, "a stream ends with usage and [DONE]", details, "a stream ends with its usage, then with [DONE]"],
  [300, "an answer may be empty", openai, "an answer without content is 200, as on the platform"],
  [301, "the fields of embeddings", openai, embeddings],
  [302, "no words are logged", accesses, "has every question to a model as a read of that model, and never the words"],
  [304, "GET /models", openai, "lists the models and reads one"],
  [305, "POST /chat/completions", openai, chat],
  [306, "POST /embeddings", openai, embeddings],
  [307, "POST /images/generations", openai, "gets a picture that is a PNG of the size it wants"],
  [309, "5 a second, 10 at once", openai, "the eleventh call at once is RateLimitError"],
  [310, "a context window", openai, "more than the context window is BadRequestError"],
];
