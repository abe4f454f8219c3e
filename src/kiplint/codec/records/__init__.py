"""Record batches, and what Kafka's own topics have in their records."""
