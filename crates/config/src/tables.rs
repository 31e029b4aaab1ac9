//! The tables of the file: one declaration carries key, type, default, bounds, unit and documentation.

use epitome_engine::{DEFAULT_SOFT, DEFAULT_TARGET, Mode, OnLoss, SummaryRole, Threshold, WithoutSummary};
use epitome_providers::FastembedPooling;
use epitome_providers::model::SummaryForm;
use epitome_strategy::settings;

use crate::values::{CompactionBy, CounterName, EmbedderName, Limit, ModelQuestion, SummarizerChoice};

settings! {
    /// `[budget]`: how much context there is, and when and how far to compact.
    pub struct BudgetTable {
        /// The model that the session is for: sets `window` and `reserve_output` where the file does not, from the table
        /// of known models and `[models]`; empty for none.
        model: String = String::new(), is common;
        /// The model's context window.
        window: u32 = 200_000, in 100..=1_000_000_000, unit "tokens", is common;
        /// Tokens kept free for the model's answer; without this key at most a quarter of the window. What is left of the window
        /// beside it and the tool definitions is the usable window, which shares refer to.
        reserve_output: u32 = 16_000, in 0..=1_000_000_000, unit "tokens", is common;
        /// The threshold from which a compaction is suggested.
        soft: Limit = Limit(Threshold::Share(DEFAULT_SOFT)), unit "share of the usable window, or tokens", is common;
        /// The threshold from which a compaction is due; no result of a compaction exceeds it.
        hard: Limit = Limit(Threshold::Share(0.95)), unit "share of the usable window, or tokens", is common;
        /// The size that a compaction aims at. Far below `soft`, because each compaction breaks the provider's prompt
        /// cache.
        target: Limit = Limit(Threshold::Share(DEFAULT_TARGET)), unit "share of the usable window, or tokens", is common;
    }
}

settings! {
    /// `[counter]`: how tokens are counted.
    pub struct CounterTable {
        /// The counter: `model` counts as the session's model does, exactly where its vocabulary is public and else by what
        /// its family spends, corrected by what the provider reported for the session's requests; `o200k_base` and
        /// `cl100k_base` are OpenAI's, `weighted`, `two-ratio`, `halves` and `quarters` estimates by the characters.
        name: CounterName = CounterName("model".to_owned()), is common;
    }
}

settings! {
    /// `[pins]`: what stays verbatim beside the system prompt, open calls and the newest user message, which always do.
    pub struct PinsTable {
        /// Whether the first user message stays.
        original_task: bool = true, is common;
        /// How many of the newest rounds stay whole; a round is a user message and everything up to the next one.
        last_rounds: u32 = 0, in 0..=10_000, unit "rounds", is common;
        /// How many of the newest messages stay whole, with what belongs to them, whatever the chain is; as many of them as
        /// take no more than half of what the target leaves beside what else must stay. 0 leaves it to the chain.
        keep_recent: u32 = 0, in 0..=1_000, unit "messages";
        /// Tools whose calls and results stay, letter case not counted.
        protected_tools: Vec<String> = vec!["Skill".to_owned()], is common;
        /// Texts that pin the message they stand in.
        markers: Vec<String> = vec!["<Pin>".to_owned()], is common;
    }
}

settings! {
    /// `[marks]`: what the texts say that stand for what left.
    pub struct MarksTable {
        /// Whether headings of summaries, notices and elision marks name the handle under which what they stand for can be
        /// recalled, and headings the tool that searches. For a model that has these tools (`epitome mcp`, `/mcp` of the
        /// service; the proxy switches it on for itself with `[proxy] recall`), or a person who reads the context; to any
        /// other reader it is noise. Reports name the handles in any case.
        handles: bool = false, is common;
        /// Whether secrets leave what compactions write: keys in the forms of known providers, private keys, passwords in
        /// addresses, and values that look random beside a name such as `API_TOKEN` or `password`. A stand-in says what it
        /// was. That is for summaries, shortened texts, hooks, memories and the prompts of models that write summaries; messages
        /// that stay as they came keep their bytes.
        redact_secrets: bool = true;
    }
}

settings! {
    /// `[proxy]`: what the proxy of `epitome serve` does beside compacting.
    pub struct ProxyTable {
        /// Whether the model gets tools to look up what left the context, `search_history` and `recall`, and to ask for
        /// a compaction, `compact_context`: from a conversation's first compaction on they are added to its requests,
        /// the proxy answers their calls itself, and the client sees the final answer only.
        recall: bool = true, is common;
        /// Who makes the compactions that clients ask their provider for (OpenAI's `compaction_trigger`,
        /// `responses/compact` and `compact_threshold`, Anthropic's `compaction` and `compact_20260112`): `proxy` makes them
        /// itself wherever it can do rightly what is asked, `provider` sends them on.
        compaction: CompactionBy = CompactionBy::Proxy, is common;
    }
}

settings! {
    /// `[select]`: how the chain is chosen.
    pub struct SelectTable {
        /// `adaptive` takes the chain of the detected kind of task, `fixed` the one that `chain` names, `tournament` tries
        /// them all and takes the best result.
        mode: Mode = Mode::Adaptive, is common;
        /// The chain of `mode = "fixed"`, by its name in `[chains]`.
        chain: String = String::new(), is common;
        /// How many verdicts of compactions in a row must agree on another kind of task before the chain changes; at 1
        /// each verdict is followed.
        agreeing_verdicts: u32 = 2, in 1..=100, unit "verdicts";
        /// A verdict of less confidence counts as `unknown`.
        min_confidence: f64 = 0.5, in 0..=1;
        /// The compaction of a session, counted from 1, from which on the chains `code-later`, `analysis-later` and so on
        /// are used where `[chains]` has them: what the first chain takes is gone by then.
        later_from: u32 = 3, in 2..=1_000, unit "compactions";
    }
}

settings! {
    /// `[quality]`: the least that a compaction must keep, and what follows where it does not.
    pub struct QualityTable {
        /// The least share of the messages that people typed, each with all its words; 0 asks for nothing.
        min_typed: f64 = 0.0, in 0..=1;
        /// The least share of the sentences of people that demand something or state a fact to be kept.
        min_instructions: f64 = 0.0, in 0..=1, is common;
        /// The least share of the sentences of what the model said last before each typed message.
        min_conclusions: f64 = 0.0, in 0..=1;
        /// The least share of the lines of a summary that an agent or a model wrote.
        min_summaries: f64 = 0.0, in 0..=1;
        /// The least share of the exact strings that were asked for (in typed messages and in what calls name; later
        /// ones weigh more).
        min_strings: f64 = 0.0, in 0..=1;
        /// The least share of the files that calls wrote or edited (which weigh twice) or read.
        min_files: f64 = 0.0, in 0..=1;
        /// `retry` tries the chains of the other kinds of task and takes the first result that keeps enough, or the best;
        /// `roll-back` does so too, and leaves the session as it was where none keeps enough; `report` takes the first
        /// result and says so.
        on_loss: OnLoss = OnLoss::Retry, is common;
    }
}

settings! {
    /// `[summary]`: who writes the summaries that strategies ask for.
    pub struct SummaryTable {
        /// `rules` writes them without a model, `llm` has a model of one of `[channels]` write them, `provider` asks the
        /// compaction that the provider of that model has of its own first (Anthropic's), and the model where it offers none;
        /// with `off` a strategy that asks for one is refused, and the chain continues.
        summarizer: SummarizerChoice = SummarizerChoice::Rules, is common;
        /// How a model is asked for a hand-off: `same-conversation` puts one instruction at the end of the conversation
        /// itself and has the agent's own model answer, where there is a conversation to ask (the proxy, a live session
        /// whose host answers); elsewhere, where that fails, and with `transcript`, a channel's model reads a transcript.
        ask: ModelQuestion = ModelQuestion::SameConversation;
        /// Whether a hand-off is prepared in the background from the soft threshold on, and made at the hard one, in the
        /// proxy and in live sessions whose host runs it: no request waits for the model.
        background: bool = true;
        /// The channel of `summarizer = "llm"` and `"provider"`, by its name; empty for the only one that may be used for compaction.
        channel: String = String::new(), is common;
        /// The model; empty for the first one of the channel.
        model: String = String::new(), is common;
        /// Whether rules write a summary that the model does not give.
        fall_back_to_rules: bool = true;
        /// What follows where no summary can be written: `go-on` with the next strategy, or `stop` and leave the session as
        /// it is.
        on_failure: WithoutSummary = WithoutSummary::GoOn;
        /// The role of a summary's message in the context: `user`, or `system`, where a provider takes it there
        /// (OpenAI's do; Anthropic gets it on the user's side).
        role: SummaryRole = SummaryRole::User;
        /// What a model's summary looks like: `sections` under headings, or `json`, which is shorter and easier for a
        /// small model.
        form: SummaryForm = SummaryForm::Sections;
        /// A folder with prompts of yours, `en/NAME.md` and `zh/NAME.md`; empty for those that ship.
        prompts: String = String::new();
        /// Whether a model's summary is held against the session's log: what the log does not hold is marked, and rules add
        /// demands and changed files that it leaves out. Without it the text stays as the model wrote it.
        check: bool = true;
        /// Requests to a model that are under way at once.
        parallel: u32 = 4, in 1..=1_000, unit "requests";
        /// Tokens that the model may think before it answers; 0 for a model that does not.
        reasoning_tokens: u32 = 0, in 0..=1_000_000, unit "tokens";
        /// A folder in which a model's answers are kept from run to run, so that the same part of a session is not paid
        /// for twice. They hold what the sessions say. Empty to keep them in memory only.
        cache: String = String::new();
        /// Tokens that one summary may take at most, whether rules or a model write it. 0 leaves it to the strategies: 4,000 for a
        /// summary that is requested, and what the target leaves for `transcript`.
        max_tokens: u32 = 0, in 0..=1_000_000, unit "tokens", is common;
    }
}

settings! {
    /// `[embeddings]`: what turns texts into vectors.
    pub struct EmbeddingsTable {
        /// `static` is the table that is compiled in, `fastembed` a neural model on this machine (in builds with the
        /// feature `fastembed`), `openai` any service with an OpenAI-compatible endpoint; with `off` strategies that need
        /// vectors decline.
        embedder: EmbedderName = EmbedderName::Static, is common;
        /// The model's name, for `fastembed` and `openai`; empty for `AllMiniLML6V2` and `text-embedding-3-small`.
        model: String = String::new();
        /// A folder with `model.onnx` and the tokenizer's files, for `fastembed`; empty to look in the cache of models.
        directory: String = String::new();
        /// Where downloaded models lie; empty for `$XDG_CACHE_HOME/epitome/models`.
        models: String = String::new();
        /// ONNX Runtime's library or its folder, for `fastembed`; empty for `ORT_DYLIB_PATH`, then
        /// `$XDG_DATA_HOME/epitome/onnxruntime`.
        runtime_library: String = String::new();
        /// How the output of a model in `directory` becomes one vector: `mean` of all tokens, or the `first` one.
        pooling: FastembedPooling = FastembedPooling::Mean;
        /// The address in front of `/embeddings`, for `openai`; empty for OpenAI's own.
        base_url: String = String::new();
        /// The environment variable that holds the service's key; empty for a service that wants none.
        key_variable: String = "OPENAI_API_KEY".to_owned();
        /// The longest wait for one request.
        timeout_seconds: u32 = 30, in 1..=3_600, unit "seconds";
        /// Texts in one request.
        batch_size: u32 = 64, in 1..=10_000, unit "texts";
        /// The number of values in a vector that the service is asked for; 0 for the model's own.
        dimensions: u32 = 0, in 0..=100_000, unit "numbers";
        /// A folder in which vectors are kept from run to run; empty to keep them in memory only.
        cache: String = String::new();
        /// The most vectors that are kept.
        cache_vectors: u32 = 50_000, in 1..=100_000_000, unit "vectors";
    }
}

settings! {
    /// `[lexicon]`: cue words beside those that ship.
    pub struct LexiconTable {
        /// The text is called important.
        important: Vec<String> = Vec::new();
        /// The text is to be remembered.
        remember: Vec<String> = Vec::new();
        /// A standing instruction.
        instruction: Vec<String> = Vec::new();
        /// A preference or a wish of a person.
        preference: Vec<String> = Vec::new();
        /// A decision or a conclusion.
        decision: Vec<String> = Vec::new();
        /// A task starts.
        task_start: Vec<String> = Vec::new();
        /// A task, or a part of it, is done.
        completion: Vec<String> = Vec::new();
        /// An error or a failure.
        error: Vec<String> = Vec::new();
        /// A fix.
        fix: Vec<String> = Vec::new();
        /// A question that is to be answered.
        question: Vec<String> = Vec::new();
        /// The talk turns to something else.
        topic_shift: Vec<String> = Vec::new();
        /// The talk of people who write code.
        code: Vec<String> = Vec::new();
        /// The talk of people who look into something.
        analysis: Vec<String> = Vec::new();
        /// Small talk and courtesy.
        conversation: Vec<String> = Vec::new();
    }
}
