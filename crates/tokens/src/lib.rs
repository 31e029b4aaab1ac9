//! Token counters: exact vocabularies, estimators, a calibrated estimator.
