"""What only an inference server (serve.py) loads: plugins and middleware of vLLM."""
